#pragma once
// The protobuf wire format, both ways.
#include "ingot/formats/protobuf/wire_reader.h"
#include "ingot/formats/protobuf/wire_type.h"
#include "ingot/formats/protobuf/wire_writer.h"
