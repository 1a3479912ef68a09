% Makes and drops tensors, functions and compiled functions in random order.
1;
function result = failing(a)
  error("mine:42", "no");
end
rand("seed", 1);
slots = cell(1, 12);
compiled = cell(1, 4);
for i = 1:300
  at = ceil(12 * rand());
  there = find(! cellfun(@isempty, slots));
  if isempty(there)
    one = Thunder.tensor([1 2; 3 4]);
  else
    one = slots{there(ceil(numel(there) * rand()))};
  end
  switch ceil(7 * rand())
    case 1, slots{at} = Thunder.tensor(rand(2));
    case 2, slots{at} = one * 0.5 + one;
    case 3, slots{at} = [];
    case 4, compiled{ceil(4 * rand())} = [];
    case 5
      f = Thunder.compile(@(a) Thunder.op("sum", a .* one), struct("executors", "host"));
      if rand() < 0.5, f = value_and_grad(f); end
      compiled{ceil(4 * rand())} = f;
    case 6
      f = compiled{ceil(4 * rand())};
      if ! isempty(f), f(one); end
    otherwise
      text = "";
      try
        Thunder.compile(@failing)(one);
      catch thrown
        text = thrown.message;
      end
      assert(text, "no");
  end
end
clear slots compiled one f;
disp("tortured");
