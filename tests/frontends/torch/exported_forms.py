# What graphs of torch.export have beside calls of ATen: graphs inside, symbolic numbers, checks, operators that change
# their operand, quantised pairs. Read by exported.py.
def inner_graph(build, *examples):
    """A graph of its own, and what it gives for the examples."""
    program = Program()
    for example in examples:
        program.name_of(example, "input")
    results = flat(build(program.call, *examples))
    inputs = [{"as_tensor": {"name": name}} for name, _ in program.inputs]
    outputs = [{"as_tensor": {"name": program.names[id(r)][0]}} for r in results]
    graph = {"inputs": inputs, "outputs": outputs, "nodes": program.nodes, "tensor_values": program.tensors,
             "sym_int_values": {}, "sym_bool_values": {}, "custom_obj_values": {}, "is_single_tensor_return": False}
    return {"as_graph": {"name": "inner", "graph": graph}}, results


def add_node(program, target, inputs, outputs):
    program.nodes.append({"target": target, "inputs": [{"name": n, "arg": a, "kind": 1} for n, a in inputs],
                          "outputs": outputs, "metadata": {}, "is_hop_single_tensor_return": None})


def tensors(program, values):
    return {"as_tensors": [{"name": program.name_of(v, "input")} for v in values]}


def named(program, value):
    return {"as_tensor": {"name": program.name_of(value, "input")}}


def form(name, build, **kwargs):
    if wanted in name:
        program = Program(**kwargs)
        write(name, program, build(program))


def cond(flag):
    def build(program):
        condition, a = torch.tensor(flag), x(3, 4)
        for t in (condition, a):
            program.name_of(t, "input")
        yes, of_yes = inner_graph(lambda call, v: call("sin.default", v), a)
        no, of_no = inner_graph(lambda call, v: call("mul.Scalar", v, 2.0), a)
        result = of_yes[0] if flag else of_no[0]
        add_node(program, "torch.ops.higher_order.cond", [("pred", named(program, condition)), ("true", yes), ("false", no), ("operands", tensors(program, [a]))],
                 [{"as_tensors": [program.result(result)]}])
        return result
    return build


def loop(rounds):
    def build(program):
        i, a = torch.tensor(0), x(3)
        most = torch.tensor(rounds)
        for t in (i, a, most):
            program.name_of(t, "input")
        goes_on, _ = inner_graph(lambda call, i, a, most: call("lt.Tensor", i, most), i, a, most)
        body, _ = inner_graph(lambda call, i, a, most: [call("add.Scalar", i, 1), call("mul.Scalar", a, 1.5)], i, a, most)
        results = [torch.tensor(rounds), a * 1.5 ** rounds]
        add_node(program, "torch.ops.higher_order.while_loop", [("cond_fn", goes_on), ("body_fn", body), ("carried_inputs", tensors(program, [i, a])), ("additional_inputs", tensors(program, [most]))],
                 [{"as_tensors": [program.result(r) for r in results]}])
        return results
    return build


def mapped(program):
    a, b = x(4, 3), x(3)
    for t in (a, b):
        program.name_of(t, "input")
    body, _ = inner_graph(lambda call, row, b: call("add.Tensor", call("relu.default", row), b), a[0].clone(), b)
    result = torch.relu(a) + b
    add_node(program, "torch.ops.higher_order.map_impl", [("f", body), ("xs", tensors(program, [a])), ("pos_args", tensors(program, [b]))],
             [{"as_tensors": [program.result(result)]}])
    return result


def scanned(program):
    state, rows = x(3), x(4, 3)
    for t in (state, rows):
        program.name_of(t, "input")
    body, _ = inner_graph(lambda call, s, r: (lambda n: [n, call("mul.Tensor", n, r)])(call("add.Tensor", s, r)), state, rows[0].clone())
    now, made = state, []
    for row in rows:
        now = now + row
        made.append(now * row)
    results = [now, torch.stack(made)]
    add_node(program, "torch.ops.higher_order.scan", [("combine_fn", body), ("init", tensors(program, [state])), ("xs", tensors(program, [rows])), ("additional_inputs", {"as_tensors": []})],
             [{"as_tensors": [program.result(r) for r in results]}])
    return results


def without_gradients(program):
    a = x(2, 3)
    program.name_of(a, "input")
    body, made = inner_graph(lambda call, v: call("exp.default", v), a)
    add_node(program, "torch.ops.higher_order.wrap_with_set_grad_enabled", [("enable_grad", {"as_bool": False}), ("wrapped_func", body), ("args", named(program, a))],
             [{"as_tensors": [program.result(made[0])]}])
    return made[0]


def symbols(program):
    """view(x, [s0 * 3, max(s1 // 2, 1)]) by numbers that other nodes compute; checks stand between."""
    a = x(4, 3, 2)
    name = program.name_of(a, "input")
    symbol = lambda n: {"as_sym_int": {"as_name": n}}
    add_node(program, "torch.ops.aten.sym_size.int", [("self", named(program, a)), ("dim", {"as_int": 0})], [symbol("n")])
    add_node(program, "torch.ops.aten.sym_constrain_range_for_size.default", [("size", symbol("n")), ("min", {"as_int": 1})], [])
    add_node(program, "_operator.mul", [("a", symbol("n")), ("b", {"as_int": 3})], [symbol("rows")])
    add_node(program, "_operator.ge", [("a", symbol("rows")), ("b", {"as_int": 1})], [{"as_sym_bool": {"as_name": "holds"}}])
    add_node(program, "torch.ops.aten._assert_scalar.default", [("self", {"as_sym_bool": {"as_name": "holds"}}), ("assert_msg", {"as_string": "?"})], [])
    add_node(program, "_operator.truediv", [("a", symbol("rows")), ("b", {"as_int": 6})], [{"as_sym_float": {"as_name": "half"}}])
    add_node(program, "torch.sym_int", [("a", {"as_sym_float": {"as_name": "half"}})], [symbol("whole")])
    add_node(program, "torch.sym_max", [("a", symbol("whole")), ("b", {"as_int": 2})], [symbol("columns")])
    result = a.view(12, 2)
    add_node(program, "torch.ops.aten.view.default", [("self", {"as_tensor": {"name": name}}), ("size", {"as_sym_ints": [{"as_name": "rows"}, {"as_name": "columns"}]})],
             [{"as_tensor": program.result(result)}])
    return result


def numbers(program):
    """Numbers that graphs take of tensors: how many elements, a stride, the only element."""
    a, b = x(2, 3, 4), x(1)
    symbol = lambda n: {"as_sym_int": {"as_name": n}}
    name = program.name_of(a, "input")
    add_node(program, "torch.ops.aten.sym_numel.default", [("self", named(program, a))], [symbol("count")])
    add_node(program, "torch.ops.aten.sym_stride.int", [("self", named(program, a)), ("dim", {"as_int": 0})], [symbol("step")])
    add_node(program, "torch.ops.aten._local_scalar_dense.default", [("self", named(program, b))], [{"as_sym_float": {"as_name": "factor"}}])
    add_node(program, "_operator.floordiv", [("a", symbol("count")), ("b", symbol("step"))], [symbol("rows")])
    shaped = a.view(2, 12)
    add_node(program, "torch.ops.aten.view.default", [("self", {"as_tensor": {"name": name}}), ("size", {"as_sym_ints": [{"as_name": "rows"}, {"as_name": "step"}]})],
             [{"as_tensor": program.result(shaped)}])
    result = shaped * b.item()
    add_node(program, "torch.ops.aten.mul.Scalar", [("self", named(program, shaped)), ("other", {"as_sym_float": {"as_name": "factor"}})],
             [{"as_tensor": program.result(result)}])
    return result


def in_place(program):
    """As training graphs have it: a view is changed, and what it was taken from changes with it."""
    a = x(3, 4)
    name = program.name_of(a, "input")
    tensor = lambda n: {"as_tensor": {"name": n}}
    add_node(program, "torch.ops.aten.clone.default", [("self", tensor(name))], [tensor("copy")])
    add_node(program, "torch.ops.aten.select.int", [("self", tensor("copy")), ("dim", {"as_int": 0}), ("index", {"as_int": 1})], [tensor("row")])
    add_node(program, "torch.ops.aten.add_.Tensor", [("self", tensor("row")), ("other", {"as_float": 5.0})], [tensor("row_1")])
    add_node(program, "torch.ops.aten.relu_.default", [("self", tensor("copy"))], [tensor("last")])
    result = a.clone()
    result[1] += 5
    result = result.relu()
    program.names[id(result)] = ("last", result)
    return result


def quantized_pair(kind):
    def build(program):
        a = x(3, 4)
        scale, zero = 0.05, 3
        tensor = lambda n: {"as_tensor": {"name": n}}
        if kind == "tensor":
            q = torch.clamp(torch.round(a / scale) + zero, -128, 127).to(torch.int8)
            result = (q.float() - zero) * scale
            inputs = [("scale", {"as_float": scale}), ("zero_point", {"as_int": zero})]
        else:
            scales, zeros = torch.tensor([0.05, 0.1, 0.02]), torch.tensor([0, 3, -2])
            program.name_of(a, "input")
            q = torch.clamp(torch.round(a / scales[:, None]) + zeros[:, None], -127, 127).to(torch.int8)
            result = (q.float() - zeros[:, None]) * scales[:, None]
            inputs = [("scales", named(program, scales)), ("zero_points", named(program, zeros)), ("axis", {"as_int": 0})]
        inputs += [("quant_min", {"as_int": -128 if kind == "tensor" else -127}), ("quant_max", {"as_int": 127}), ("dtype", {"as_scalar_type": 2})]
        add_node(program, f"torch.ops.quantized_decomposed.quantize_per_{kind}.default", [("input", named(program, a))] + inputs, [{"as_tensor": program.result(q)}])
        add_node(program, f"torch.ops.quantized_decomposed.dequantize_per_{kind}.default", [("input", named(program, q))] + inputs, [{"as_tensor": program.result(result)}])
        return result
    return build


for flag in (True, False):
    form(f"form_cond_{flag}", cond(flag))
for rounds in (0, 3):
    form(f"form_while_{rounds}", loop(rounds))
form("form_map", mapped)
form("form_scan", scanned)
form("form_no_grad", without_gradients)
form("form_symbols", symbols, dynamic=True)
form("form_numbers", numbers)
form("form_in_place", in_place)
form("form_quantized", quantized_pair("tensor"))
form("form_quantized_channels", quantized_pair("channel"))
