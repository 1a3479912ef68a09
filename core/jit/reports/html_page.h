// The page of an HTML report, which the build makes of the files in page/: text before its data, and behind.
#pragma once

namespace thunder {

extern const char kReportPageHead[], kReportPageTail[];

}  // namespace thunder
