#!/usr/bin/env python3
"""checked.py FOLDER: onnx.checker's full check of each model of a folder, such as the random programs of the battery:
THUNDER_ONNX_FOLDER=FOLDER THUNDER_ONNX_PROGRAMS=1000 build/release/bin/battery_test --gtest_filter='OnnxPrograms.*'. Needs onnx."""
import pathlib
import sys

import onnx

if len(sys.argv) != 2:
    raise SystemExit(__doc__)
failed, files = 0, sorted(pathlib.Path(sys.argv[1]).glob("*.onnx"))
for file in files:
    try:
        onnx.checker.check_model(str(file), full_check=True)
    except Exception as e:
        failed += 1
        print(f"FAILED {file.name}: {str(e)[:300]}")
print(f"{len(files)} models, {failed} failed")
sys.exit(1 if failed or not files else 0)
