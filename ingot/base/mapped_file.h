#pragma once
#include <string>

#include "ingot/base/bytes.h"

namespace ingot {

class FileDescriptor;

/// The content of a regular file, mapped read-only; the mapping lives as long as any Bytes of it. For paths that the
/// user names: links are followed. Paths that a model names go through map_beneath().
Bytes map_file(const std::string& path);

/// The same for a file that is already open; `path` is for messages.
Bytes map_open_file(const FileDescriptor& file, const std::string& path);

/// Gives back the memory that the whole pages of mapped bytes take; whoever reads them again finds them as they were,
/// fetched from the file once more. Does nothing to bytes that are not of a mapped file.
void drop_pages(const Bytes& bytes);

/// A mapped file that becomes shorter, or a disk that fails, raises SIGBUS in whoever reads it, which would end the
/// program. After this call such reads give zeros instead and are remembered. For programs; a library user opts in.
/// Other SIGBUS go where they went before.
void install_sigbus_guard();

/// Whether a read of a mapped file failed since the last check_mapped_files().
bool mapping_was_truncated();

/// Throws Error(Code::truncated_while_mapped) once if a read of a mapped file failed: called after each piece of work
/// on mapped bytes, whose result is then void.
void check_mapped_files();

}  // namespace ingot
