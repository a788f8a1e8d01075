#pragma once
#include <functional>

#include "ingot/formats/hdf5/space.h"

namespace ingot::formats::hdf5 {

/// Version 1: visits each child of the leaves with a reader at its key. `key_size`: of one key.
void walk_old_tree(const Space& space, std::uint64_t address, unsigned node_type, std::uint64_t key_size,
                   const std::function<void(ByteReader key, std::uint64_t child)>& visit);

/// Version 2: visits each record; `type` is what the tree must hold.
void walk_tree(const Space& space, std::uint64_t address, unsigned type,
               const std::function<void(ByteReader record)>& visit);
/// What a tree of version 2 says that it holds.
unsigned tree_type(const Space& space, std::uint64_t address);

}  // namespace ingot::formats::hdf5
