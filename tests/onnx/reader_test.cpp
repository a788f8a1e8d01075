// The reader, field by field, on messages that our own writer would not make.
#include "ingot/onnx/reader.h"

#include "ingot/base/error.h"
#include "ingot/ir/equal.h"
#include "ingot/onnx/text.h"
#include "ingot/onnx/writer.h"
#include "tests/onnx/messages.h"
#include "tests/support/files.h"

namespace ingot::onnx {
namespace {

using test::attribute;
using test::graph;
using test::message;
using test::Message;
using test::node;
using test::raw_tensor;
using test::value_info;
using test::Writer;

/// Reads, and checks that the model comes back from what it is written as, and from its text.
Model read_message(const Message& bytes) {
  Model model = read(Bytes::own(bytes), "");
  check_invariants(model);
  std::string difference;
  EXPECT_TRUE(equal(model, read(Bytes::own(to_bytes(model)), ""), &difference)) << difference;
  EXPECT_EQ(to_bytes(model), to_bytes(parse_text(to_text(model))));
  return model;
}

Tensor read_tensor(const Message& tensor) {
  const Model model = read_message(test::model(graph([&](Writer& w) { w.string(GraphField::initializer, tensor); })));
  return *model.graph->initializers()[0]->initializer;
}

TEST(Reader, NegativeSizesAreUnknownAndNoted) {
  const auto sized = [](std::string_view name, std::int64_t size) {
    const Message shape = message([&](Writer& w) {
      w.string(ShapeField::dim, message([&](Writer& d) { d.int64(DimensionField::dim_value, size); }));
      w.string(ShapeField::dim, message([](Writer& d) { d.int64(DimensionField::dim_value, 3); }));
    });
    const Message tensor_type = message([&](Writer& w) {
      w.int32(TensorTypeField::elem_type, 1);
      w.string(TensorTypeField::shape, shape);
    });
    return message([&](Writer& w) {
      w.string(ValueInfoField::name, name);
      w.string(ValueInfoField::type, message([&](Writer& t) { t.string(TypeField::tensor_type, tensor_type); }));
    });
  };
  const Message bytes = test::model(graph([&](Writer& w) {
    w.string(GraphField::input, sized("a", -1));
    w.string(GraphField::input, sized("b", 2));
  }));
  std::vector<std::string> notes;
  const Model model = read(Bytes::own(bytes), "", {.notes = &notes});
  EXPECT_EQ(model.graph->find("a")->type.str(), "float[?,3]");
  EXPECT_EQ(model.graph->find("b")->type.str(), "float[2,3]");
  EXPECT_EQ(notes, std::vector<std::string>{"negative sizes are read as unknown: 'a'"});
}

TEST(Reader, UnknownFieldsOfEveryMessageSurvive) {
  // The writer puts unknown fields last, so that a model whose messages all end with one comes back as it is.
  const auto unknown = [](Writer& w) { w.string(1000, "from the future"); };
  const auto entry = [&](Writer& w) {
    w.string(EntryField::key, "k");
    w.string(EntryField::value, "v");
  };
  const Message dim = message([&](Writer& w) {
    w.int64(DimensionField::dim_value, 3);
    unknown(w);
  });
  const Message shape = message([&](Writer& w) {
    w.string(ShapeField::dim, dim);
    unknown(w);
  });
  const Message tensor_type = message([&](Writer& w) {
    w.int32(TensorTypeField::elem_type, 1);
    w.string(TensorTypeField::shape, shape);
    unknown(w);
  });
  const Message type = message([&](Writer& w) {
    w.string(TypeField::tensor_type, tensor_type);
    unknown(w);
  });
  const Message info = message([&](Writer& w) {
    w.string(ValueInfoField::name, "x");
    w.string(ValueInfoField::type, type);
    unknown(w);
  });
  const Message tensor = raw_tensor({1}, 1, "abcd") + message(unknown);
  const Message sparse = message([&](Writer& w) {
    w.string(SparseTensorField::values, tensor);
    w.string(SparseTensorField::indices, raw_tensor({1}, 7, std::string(8, '\0')));
    w.int64(SparseTensorField::dims, 5);
    unknown(w);
  });
  const Message attr = message([&](Writer& w) {
    w.string(AttributeField::name, "a");
    w.int64(AttributeField::i, 1);
    w.int32(AttributeField::type, 2);
    unknown(w);
  });
  const Message one_node = node("Op", {"x"}, {"y"}, {attr}) + message(unknown);
  const Message annotation = message([&](Writer& w) {
    w.string(AnnotationField::tensor_name, "x");
    w.message(AnnotationField::quant_parameter_tensor_names, [&] { entry(w); });
    unknown(w);
  });
  const Message one_graph = message([&](Writer& w) {
    w.string(GraphField::node, one_node);
    w.string(GraphField::name, "g");
    w.string(GraphField::initializer, tensor);
    w.string(GraphField::input, info);
    w.string(GraphField::output, value_info("y"));
    w.string(GraphField::quantization_annotation, annotation);
    w.string(GraphField::sparse_initializer, sparse);
    unknown(w);
  });
  const Message opset = message([&](Writer& w) {
    w.int64(OpsetField::version, 21);
    unknown(w);
  });
  const Message function = message([&](Writer& w) {
    w.string(FunctionField::name, "f");
    w.string(FunctionField::opset_import, opset);
    unknown(w);
  });
  const Message training = message([&](Writer& w) {
    w.string(TrainingField::algorithm, one_graph);
    unknown(w);
  });
  const Message device = message([&](Writer& w) {
    w.string(DeviceField::name, "d");
    w.int32(DeviceField::num_devices, 1);
    unknown(w);
  });
  const Message model = message([&](Writer& w) {
    w.int64(ModelField::ir_version, 11);
    w.string(ModelField::graph, one_graph);
    w.string(ModelField::opset_import, opset);
    w.string(ModelField::training_info, training);
    w.string(ModelField::functions, function);
    w.string(ModelField::configuration, device);
    // An entry has no place for what is not known: it is kept whole.
    w.message(ModelField::metadata_props, [&] {
      entry(w);
      unknown(w);
    });
    unknown(w);
  });
  EXPECT_EQ(to_bytes(read_message(model)), model);
}

TEST(Reader, RepeatedNumbersMayBePackedOrNot) {
  const auto with = [](bool packed) {
    const Message attr = message([&](Writer& w) {
      w.string(AttributeField::name, "a");
      const std::vector<std::int64_t> ints = {1, -2, 300};
      if (packed) w.packed(AttributeField::ints, ints);
      for (const std::int64_t i : ints)
        if (!packed) w.int64(AttributeField::ints, i);
      w.int32(AttributeField::type, 7);
    });
    const Message tensor = message([&](Writer& w) {
      const std::vector<std::int64_t> dims = {2, 2};
      const std::vector<float> floats = {1, 2, 3, 4};
      if (packed) w.packed(TensorField::dims, dims);
      if (packed) w.packed(TensorField::float_data, floats);
      for (const std::int64_t d : dims)
        if (!packed) w.int64(TensorField::dims, d);
      for (const float f : floats)
        if (!packed) w.fixed_float(TensorField::float_data, f);
      w.int32(TensorField::data_type, 1);
      w.string(TensorField::name, "w");
    });
    return test::model(graph([&](Writer& w) {
      w.string(GraphField::node, node("Op", {}, {}, {attr}));
      w.string(GraphField::initializer, tensor);
    }));
  };
  const Model packed = read_message(with(true)), single = read_message(with(false));
  EXPECT_TRUE(equal(packed, single));
  EXPECT_EQ(packed.graph->last()->attributes.ints_or("a", {}), (std::vector<std::int64_t>{1, -2, 300}));
  EXPECT_EQ(packed.graph->initializers()[0]->initializer->to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Reader, TypedDataBecomesPackedBytes) {
  const auto typed = [](int data_type, std::int64_t count, std::uint32_t field,
                        const std::vector<std::int64_t>& values) {
    return read_tensor(message([&](Writer& w) {
      w.int64(TensorField::dims, count);
      w.int32(TensorField::data_type, data_type);
      w.packed(field, values);
    }));
  };
  using std::string_view;
  EXPECT_EQ(typed(3, 2, TensorField::int32_data, {-1, 127}).bytes().text(), string_view("\xff\x7f"));
  EXPECT_EQ(typed(2, 2, TensorField::int32_data, {255, 1}).bytes().text(), string_view("\xff\x01"));
  EXPECT_EQ(typed(9, 2, TensorField::int32_data, {1, 0}).bytes().text(), string_view("\1\0", 2));
  EXPECT_EQ(typed(10, 1, TensorField::int32_data, {15360}).bytes().text(), string_view("\0\x3c", 2));
  EXPECT_EQ(typed(22, 3, TensorField::int32_data, {0x21, 0x0f}).bytes().text(), string_view("\x21\x0f"));
  EXPECT_EQ(typed(6, 1, TensorField::int32_data, {-2}).bytes().text(), string_view("\xfe\xff\xff\xff"));
  EXPECT_EQ(typed(7, 1, TensorField::int64_data, {-2}).at<std::int64_t>(0), -2);
  EXPECT_EQ(typed(12, 1, TensorField::uint64_data, {0xffffffff}).at<std::uint32_t>(0), 0xffffffffu);
  EXPECT_EQ(typed(13, 1, TensorField::uint64_data, {-1}).at<std::uint64_t>(0), ~std::uint64_t{0});
  const Tensor strings = read_tensor(message([](Writer& w) {
    w.int64(TensorField::dims, 2);
    w.int32(TensorField::data_type, 8);
    w.string(TensorField::string_data, "a");
    w.string(TensorField::string_data, "");
  }));
  EXPECT_EQ(strings.strings()[0], "a");
  const Tensor doubles = read_tensor(message([](Writer& w) {
    w.int32(TensorField::data_type, 15);
    w.fixed_double(TensorField::double_data, 1.5);
    w.packed(TensorField::double_data, std::vector<double>{-2});
  }));
  EXPECT_EQ(doubles.dtype(), DType::c128);
}

TEST(Reader, RawDataStaysWhereItIs) {
  const Bytes file = Bytes::own(test::model(
      graph([&](Writer& w) { w.string(GraphField::initializer, raw_tensor({4}, 1, std::string(16, 'x'))); })));
  const Model model = read(file, "");
  const std::byte* data = model.graph->initializers()[0]->initializer->bytes().data();
  EXPECT_GE(data, file.data());
  EXPECT_LT(data, file.data() + file.size());
}

TEST(Reader, MessagesThatComeInPartsMerge) {
  const Message first = message([](Writer& w) {
    w.string(GraphField::name, "old");
    w.string(GraphField::node, node("A", {"x"}, {"y"}));
  });
  const Message second = message([](Writer& w) {
    w.string(GraphField::name, "new");
    w.string(GraphField::input, value_info("x"));
    w.string(GraphField::node, node("B", {"y"}, {"z"}));
  });
  const Message type_part = message([](Writer& w) { w.message(TypeField::tensor_type, [&] { w.int32(1, 1); }); });
  const Message shape_part =
      message([](Writer& w) { w.message(TypeField::tensor_type, [&] { w.message(TensorTypeField::shape, [] {}); }); });
  const Message tensor = raw_tensor({2}, 1, "abcdefgh");
  const Message attr = message([&](Writer& w) {
    w.string(AttributeField::name, "t");
    w.string(AttributeField::t, tensor.substr(0, 2));  // its dims
    w.string(AttributeField::t, tensor.substr(2));
    w.int32(AttributeField::type, 4);
  });
  const Model model = read_message(message([&](Writer& w) {
    w.string(ModelField::graph, first);
    w.int64(ModelField::ir_version, 8);
    w.string(ModelField::graph, second);
    w.message(ModelField::graph, [&] {
      w.message(GraphField::value_info, [&] {
        w.string(ValueInfoField::name, "y");
        w.string(ValueInfoField::type, type_part);
        w.string(ValueInfoField::type, shape_part);
      });
      w.string(GraphField::node, node("C", {}, {}, {attr}));
    });
  }));
  EXPECT_EQ(model.graph->name, "new");
  EXPECT_EQ(model.graph->node_count(), 3u);
  EXPECT_EQ(model.graph->find("y")->type, Type::tensor(DType::f32, Shape()));
  EXPECT_EQ(model.graph->last()->attributes.get<Tensor>("t")->size(), 2);
}

TEST(Reader, UnsortedGraphsKeepTheirMeaning) {
  const Message inner = message([](Writer& w) {
    w.string(GraphField::node, node("Neg", {"late"}, {"o"}));
    w.string(GraphField::output, value_info("o"));
  });
  const Model model = read_message(test::model(graph([&](Writer& w) {
    w.string(GraphField::node, node("Add", {"late", "y"}, {"z"}, {attribute("b", 5, AttributeField::g, inner)}));
    w.string(GraphField::node, node("Abs", {"x"}, {"late"}));
  })));
  const Node* add = model.graph->first()->next();
  EXPECT_EQ(add->input(0), model.graph->last()->output());
  EXPECT_EQ((*add->attributes.get<GraphPtr>("b"))->first()->input(0), model.graph->last()->output());
}

TEST(Reader, NamesThatNothingDefinesAreUndefinedValues) {
  const Model model = read_message(test::model(graph([](Writer& w) {
    w.string(GraphField::node, node("Add", {"nowhere", "", "nowhere"}, {"z"}));
    w.string(GraphField::output, value_info("nothing"));
  })));
  const Node* add = model.graph->last();
  EXPECT_TRUE(add->input(0)->is_undefined());
  EXPECT_EQ(add->input(0), add->input(2));
  EXPECT_EQ(add->input(1), nullptr);
  EXPECT_TRUE(model.graph->output(1)->is_undefined());
}

TEST(Reader, OfTwoDefinitionsTheFirstCounts) {
  const Model model = read_message(test::model(graph([](Writer& w) {
    w.string(GraphField::node, node("Abs", {"x"}, {"y"}));
    w.string(GraphField::node, node("Neg", {"y"}, {"x"}));
  })));
  EXPECT_EQ(model.graph->node_count(), 3u);
  EXPECT_EQ(model.graph->output(0), model.graph->first()->output());
  EXPECT_TRUE(model.graph->first()->next()->input(0)->is_input());
}

TEST(Reader, WhatIsStatedAboutForeignNamesIsKept) {
  const Message inner = message([](Writer& w) {
    w.string(GraphField::value_info, value_info("x"));
    w.string(GraphField::value_info, value_info("gone"));
  });
  const Model model = read_message(test::model(graph([&](Writer& w) {
    w.string(GraphField::node, node("If", {}, {}, {attribute("b", 5, AttributeField::g, inner)}));
  })));
  EXPECT_EQ((*model.graph->last()->attributes.get<GraphPtr>("b"))->stray_infos.size(), 2u);
}

TEST(Reader, AttributesWithoutATypeGetThatOfTheirValue) {
  const Model model = read_message(test::model(graph([](Writer& w) {
    w.string(GraphField::node, node("Op", {}, {},
                                    {message([](Writer& a) {
                                       a.string(AttributeField::name, "axis");
                                       a.int64(AttributeField::i, 3);
                                     }),
                                     message([](Writer& a) {
                                       a.string(AttributeField::name, "empty");
                                       a.int32(AttributeField::type, 7);
                                     })}));
  })));
  EXPECT_EQ(model.graph->last()->attributes.int_or("axis", 0), 3);
  EXPECT_EQ(model.graph->last()->attributes.find("empty")->type(), AttrType::ints);
}

TEST(Reader, AttributesOfTwoTypesAreRefused) {
  const auto code = [](const Message& attr) {
    try {
      (void)read(Bytes::own(test::model(
                     graph([&](Writer& w) { w.string(GraphField::node, node("Op", {}, {"out"}, {attr})); }))),
                 "");
    } catch (const Error& error) {
      EXPECT_EQ(error.op(), "Op");
      return error.code();
    }
    return Code::answer_is_no;
  };
  EXPECT_EQ(code(message([](Writer& a) {
              a.int64(AttributeField::i, 3);
              a.fixed_float(AttributeField::f, 3);
            })),
            Code::conflicting_data);
  EXPECT_EQ(code(attribute("a", 4, AttributeField::s, "text")), Code::conflicting_data);
  EXPECT_EQ(code(message([](Writer& a) { a.int32(AttributeField::type, 256); })), Code::bad_attribute);
}

TEST(Reader, TheStandardDomainHasOneName) {
  const Message named = node("Relu", {"x"}, {"z"}) + message([](Writer& w) { w.string(NodeField::domain, "ai.onnx"); });
  const Model model = read_message(test::model(graph([&](Writer& w) { w.string(GraphField::node, named); })));
  EXPECT_TRUE(model.graph->last()->is("Relu"));
}

TEST(Reader, ErrorsNameFileNodeAndTensor) {
  const test::TempDir dir;
  const Message bad = attribute("value", 4, AttributeField::t, raw_tensor({3}, 1, "abcd"));
  test::write_text(dir / "m.onnx", test::model(graph([&](Writer& w) {
                     w.string(GraphField::node, node("Constant", {}, {"c"}, {bad}) +
                                                    message([](Writer& n) { n.string(NodeField::name, "const1"); }));
                   })));
  try {
    (void)read(dir / "m.onnx");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), dir / "m.onnx");
    EXPECT_EQ(error.node(), "const1");
    EXPECT_THAT(error.message(), testing::StartsWith("tensor 'weight' at byte "));
    EXPECT_THAT(error.message(), testing::HasSubstr("float[3] needs 12 bytes, but has 4"));
  }
}

}  // namespace
}  // namespace ingot::onnx
