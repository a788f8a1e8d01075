# Code as people write it. SELF is the first argument.
HEAD = "def forward(SELF, x0: Tensor) -> Tensor:\n"
by_hand("hand_operators", HEAD + "  return (x0 + 1) * 2 - x0 / 3 ** 2", x(2, 3))
by_hand("hand_comparison", HEAD + "  return torch.where((x0 > 0) & (x0 <= 1), x0, -x0)", x(2, 3))
by_hand("hand_not", HEAD + "  return torch.where(~(x0 > 0), x0, x0 * 2)", x(2, 3))
by_hand("hand_matmul", HEAD + "  return x0 @ x0.t()", x(2, 3))
by_hand("hand_shift", HEAD + "  return (x0 << 2) | (x0 >> 1)", i64(4, low=0, high=9))
by_hand("hand_choice", HEAD + "  return x0 * 2 if x0.dim() == 2 and x0.size(0) > 1 else x0", x(2, 3), dynamic=True)
by_hand("hand_choice_at_run", HEAD + "  return x0 * 2 if bool(x0.sum() > 100) else x0 - 1", x(2, 3))
by_hand("hand_choice_of_numbers", HEAD + "  n = 1 if bool(x0.sum() > 100) else 3\n  return x0 * n", x(2, 3))
by_hand("hand_indices", HEAD + "  return x0[1:, 0] + x0[:-1, -1, None].squeeze(1)", x(3, 4))
by_hand("hand_ellipsis", HEAD + "  return x0[..., 1:3] * x0[0, ..., :1]", x(2, 3, 4))
by_hand("hand_steps", HEAD + "  return x0[::2, 1::2]", x(5, 4), dynamic=True)
by_hand("hand_mask", HEAD + "  return x0[x0 > 0].sum() + x0[0]", x(5))
by_hand("hand_gather", HEAD + "  at = torch.tensor([0, 2])\n  return x0[at, 1:] + x0[1, at].unsqueeze(1)", x(3, 4))
by_hand("hand_two_indices", HEAD + "  at = torch.tensor([0, 2])\n  return x0[:, at, torch.tensor([1, 1])]", x(2, 3, 4))
by_hand("hand_assign_element", HEAD + "  y = x0.clone()\n  y[0, 1:] = x0[1, :-1]\n  y[-1] = 5.0\n  return y", x(3, 4))
by_hand("hand_assign_mask", HEAD + "  y = x0.clone()\n  y[y < 0] = 0.0\n  return y", x(3, 4))
by_hand("hand_change", HEAD + "  y = x0.clone()\n  y += 1\n  y[:, 0] *= 2\n  z = y[1]\n  z -= 3\n  n = 4\n  n -= 1\n  return y * n",
        x(3, 4))
by_hand("hand_methods", HEAD + "  y = x0.view(2, -1).permute(1, 0).reshape(x0.numel())\n  return y.repeat(2).to(7)", x(2, 3))
by_hand("hand_range", HEAD + "  y = x0\n  for i in range(2, 8, 3):\n    y = y + i\n  return y", x(2))
by_hand("hand_lists", HEAD + """  made: List[Tensor] = []
  sizes: List[int] = [1, 2]
  for n in sizes:
    made.append(x0 * n)
  for i, part in enumerate(made):
    made[i] = part + i
  for a, b in zip(sizes, made):
    sizes[0] = sizes[0] + a
  return torch.cat(made, 0) * sizes[0] + len(made)""", x(2))
by_hand("hand_elif", HEAD + """  mode = "edge"
  if mode == "wrap":
    y = x0
  elif mode == "edge":
    y = x0 * 2
  else:
    y = x0 * 3
  assert x0.dim() == 2, "a matrix"
  b, c = x0.shape
  return y.reshape([c, b])""", x(2, 3))
by_hand("hand_while", HEAD + """  y = x0
  i = 0
  while i < 5 and bool(y.sum() < 40):
    y = y * 2 + 1
    i = i + 1
  return y""", x(2, 3))
by_hand("hand_loop_of_a_size", HEAD + """  y = x0[0]
  for i in range(1, x0.size(0)):
    y = y * 0.5 + x0[i]
  return y""", x(4, 3), dynamic=True)
by_hand("hand_early_return", HEAD + """  if x0.size(1) == 3:
    return x0
  return x0 * 2""", x(2, 4))
by_hand("hand_tuple", "def forward(SELF, x0: Tensor) -> Tuple[Tensor, Tensor]:\n  a, b = x0.chunk(2, 1)\n  return a, b + 1", x(2, 4))
by_hand("hand_is_none", "def forward(SELF, x0: Tensor, y: Optional[Tensor]=None) -> Tensor:\n"
        "  return x0 if y is None else x0 + y", x(2))
by_hand("hand_in", HEAD + "  return x0 if 3 in [1, 2] or 'a' in ['a'] else -x0", x(2))
by_hand("hand_texts", HEAD + """  where = str(torch.device("cpu"))
  words = "a,b ,c".split(",")
  n = where.find("p", 0, len(where)) + len(words) + len("-".join(words)) + len("aXbX".replace("X", "yy").strip("a"))
  return x0 * n if "cpu" in where and where[:2] == "cp" else x0""", x(2))
