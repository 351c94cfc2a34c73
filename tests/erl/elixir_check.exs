# SPDX-License-Identifier: Apache-2.0
# What people's Elixir programs do: macros, structs, processes, patterns of ~r in compiled code, streams, errors.
defmodule Check do
  defstruct a: 1, b: %{}
  defmacro square(x), do: quote(do: unquote(x) * unquote(x))
  def fib(n) when n < 2, do: n
  def fib(n), do: fib(n - 1) + fib(n - 2)
  def words(text), do: Regex.scan(~r/(\w+)-(\d+)/u, text, capture: :all_but_first)
end

defmodule Check.Main do
  require Check

  def run do
    IO.inspect({Check.fib(20), Check.square(7), struct(Check), Check.words("é-1 b-22")})
    {:ok, agent} = Agent.start_link(fn -> 0 end)
    Agent.update(agent, &(&1 + 5))
    IO.inspect({Agent.get(agent, & &1), Task.await(Task.async(fn -> :done end))})
    IO.inspect("a,b,c" |> String.split(",") |> Enum.zip(1..3) |> Map.new())
    IO.inspect(Stream.iterate(1, &(&1 * 2)) |> Enum.take(10))
    IO.inspect({String.upcase("straße"), Float.round(3.14159, 2), DateTime.to_iso8601(~U[2020-01-01 00:00:00Z])})
    IO.inspect(for(<<c <- "abc">>, do: c + 1))

    try do
      raise ArgumentError, "bad"
    rescue
      e -> IO.inspect(e)
    end

    IO.puts(Exception.format(:error, %KeyError{key: :k, term: %{}}, []))
    IO.inspect(Code.eval_string("x * 3", x: 14))
  end
end

Check.Main.run()
