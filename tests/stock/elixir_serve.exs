# SPDX-License-Identifier: Apache-2.0
# A server as one writes it in Elixir: elixir elixir_serve.exs PORT. A line "CART N" adds N to that cart; the answer is
# a line with the sum. A cart is a GenServer of its own, found through a Registry and started under a DynamicSupervisor;
# each sixteenth line is answered by a Task; an Agent and a table know the sums of all.

defmodule Shop.Cart do
  use GenServer, restart: :transient

  def start_link(name), do: GenServer.start_link(__MODULE__, name, name: via(name))

  def add(name, n) do
    case Registry.lookup(Shop.Names, name) do
      [{cart, _}] -> GenServer.call(cart, {:add, n})
      [] -> open(name) && add(name, n)
    end
  end

  defp open(name), do: DynamicSupervisor.start_child(Shop.Carts, {__MODULE__, name})
  defp via(name), do: {:via, Registry, {Shop.Names, name}}

  @impl true
  def init(name), do: {:ok, {name, 0}}

  @impl true
  def handle_call({:add, n}, _from, {name, sum}) do
    :ets.insert(:shop_sums, {name, sum + n})
    {:reply, sum + n, {name, sum + n}}
  end
end

defmodule Shop.Door do
  def open(port) do
    how = [:binary, packet: :line, active: false, reuseaddr: true, nodelay: true, ip: {127, 0, 0, 1}]
    {:ok, door} = :gen_tcp.listen(port, how)
    let_in(door)
  end

  defp let_in(door) do
    {:ok, socket} = :gen_tcp.accept(door)
    {:ok, guest} = Task.Supervisor.start_child(Shop.Tasks, fn -> serve(socket, 0) end)
    :gen_tcp.controlling_process(socket, guest)
    let_in(door)
  end

  defp serve(socket, served) do
    case :gen_tcp.recv(socket, 0) do
      {:ok, line} ->
        :ok = :gen_tcp.send(socket, [answer(line, rem(served, 16)), ?\n])
        serve(socket, served + 1)

      {:error, _} ->
        :ok
    end
  end

  defp answer(line, 0), do: Task.Supervisor.async(Shop.Tasks, fn -> answer(line, 1) end) |> Task.await()

  defp answer(line, _) do
    [name, n] = String.split(line)
    sum = Shop.Cart.add(name, String.to_integer(n))
    Agent.cast(Shop.Total, &(&1 + 1))
    Integer.to_string(sum)
  end
end

:ets.new(:shop_sums, [:public, :named_table, write_concurrency: true])

children = [
  {Registry, keys: :unique, name: Shop.Names},
  {DynamicSupervisor, name: Shop.Carts},
  {Task.Supervisor, name: Shop.Tasks},
  %{id: Shop.Total, start: {Agent, :start_link, [fn -> 0 end, [name: Shop.Total]]}}
]

{:ok, _} = Supervisor.start_link(children, strategy: :one_for_one)
[port] = System.argv()
Shop.Door.open(String.to_integer(port))
