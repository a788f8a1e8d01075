# Scripted code: branches, loops, lists, optional values, dictionaries. Read by cases.py.
scripted("if_tensor", """
def forward(self, x0):
    if bool(x0.sum() > 0):
        y = x0 * 2
    else:
        y = x0 - 1
    return y
""", x(3, 4))
scripted("if_two_results", """
def forward(self, x0):
    n = 1
    if bool(x0.mean() > 10):
        y, n = x0 * 2, 5
    else:
        y = x0 - 1
    return y * n
""", x(3, 4))
scripted("if_shape", """
def forward(self, x0):
    if x0.dim() == 2:
        return x0.sum(1)
    else:
        return x0
""", x(3, 4))
scripted("if_in_place", """
def forward(self, x0):
    y = x0.clone()
    if bool(x0[0, 0] > 0):
        y[0] = 7.0
    else:
        y.add_(1)
    return y
""", x(3, 4))
scripted("if_nested", """
def forward(self, x0):
    if bool(x0[0, 0] > 0):
        if bool(x0[0, 1] > 0):
            y = x0 + 1
        else:
            y = x0 + 2
    else:
        y = x0 + 3
    return y
""", x(3, 4))
scripted("if_raises", """
def forward(self, x0):
    if bool(x0.sum() > 1000):
        raise RuntimeError("too large")
    return x0 + 1
""", x(3, 4))
scripted("for_known", """
def forward(self, x0):
    y = x0
    for i in range(4):
        y = y * 0.5 + i
    return y
""", x(3, 4))
scripted("for_size", """
def forward(self, x0):
    y = torch.zeros_like(x0[0])
    for i in range(x0.size(0)):
        y = y * 0.5 + x0[i]
    return y
""", x(5, 4), dynamic=True)
scripted("for_two_states", """
def forward(self, x0):
    a = x0[0]
    total = 0
    for i in range(x0.size(0)):
        a = torch.tanh(a + x0[i])
        total = total + i
    return a * total
""", x(5, 4), dynamic=True)
scripted("while_value", """
def forward(self, x0):
    y = x0
    while bool(y.abs().max() > 0.1):
        y = y / 2
    return y
""", x(3, 4))
scripted("while_known", """
def forward(self, x0):
    n = 10
    while n > 3:
        n = n // 2
    return x0 * n
""", x(3, 4))
scripted("list_stack", """
def forward(self, x0):
    rows = []
    for i in range(3):
        rows.append(x0[i] * i)
    return torch.stack(rows, 1)
""", x(3, 4))
scripted("list_in_loop", """
def forward(self, x0):
    rows = []
    h = torch.zeros_like(x0[0])
    for i in range(x0.size(0)):
        h = torch.tanh(h + x0[i])
        rows.append(h)
    return torch.stack(rows, 0)
""", x(5, 4), dynamic=True)
scripted("list_cat_in_loop", """
def forward(self, x0):
    rows = []
    for i in range(x0.size(0)):
        rows.append(x0[i:i + 1] * 2)
    return torch.cat(rows, 0)
""", x(5, 4), dynamic=True)
scripted("list_numbers", """
def forward(self, x0):
    sizes = [1, 2, 3]
    total = 0
    for s in sizes:
        total += s
    return x0 * total + len(sizes) + sum(sizes)
""", x(3))
scripted("dictionary", """
def forward(self, x0):
    d = {"a": x0, "b": x0 * 2}
    d["c"] = d["a"] + d["b"]
    return d["c"]
""", x(3))
scripted("optional", """
def forward(self, x0):
    b = torch.jit.annotate(Optional[Tensor], None)
    if b is None:
        b = x0 + 1
    return x0 * b
""", x(3))
scripted("tuple", """
def forward(self, x0):
    t = (x0, x0 + 1, 3)
    a, b, c = t
    return a * b * c + t[1]
""", x(3))
scripted("enumerate_zip", """
def forward(self, x0):
    y = x0
    for i, w in enumerate([1.0, 2.0, 3.0]):
        y = y + i * w
    for a, b in zip([1, 2], [3, 4]):
        y = y + a * b
    return y
""", x(3))
scripted("numbers", """
def forward(self, x0):
    n = x0.size(1)
    a = n // 3 + n % 3 + int(n / 2) + max(n, 2) - min(n, 9)
    b = float(n) ** 2.0
    return x0 * a + b
""", x(3, 7))
scripted("slices", """
def forward(self, x0):
    n = x0.size(0)
    return x0[1:n - 1, ::2] + x0[:n - 2, 0:1]
""", x(5, 4), dynamic=True)
scripted("view_sizes", """
def forward(self, x0):
    b, c, h = x0.size()
    return x0.view(b, c * h).view(b, h, c)
""", x(2, 3, 4), dynamic=True)
scripted("item", """
def forward(self, x0):
    n = int(x0.argmax(0).item())
    return x0[n] * 2
""", x(6))
scripted("f_string", """
def forward(self, x0):
    if x0.dim() > 5:
        raise ValueError("got {} axes".format(x0.dim()))
    assert x0.size(0) == 3, "rows"
    return x0
""", x(3, 4))
