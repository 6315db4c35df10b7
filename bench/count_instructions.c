// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A plugin of qemu-user. It counts the instructions of the program, and prints the count so far to
// its file (counts=FILE) whenever the program makes the system call 1000000, which does not exist.
//
// The declarations are those of the functions that it calls (version 1 of the interface), because
// distributions do not package qemu's header.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct qemu_plugin_tb;
typedef uint64_t plugin_id;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*call)(plugin_id, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block,
                                          void (*call)(unsigned, void*), int flags, void* data);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id,
                                          void (*call)(plugin_id, unsigned, int64_t, uint64_t,
                                                       uint64_t, uint64_t, uint64_t, uint64_t,
                                                       uint64_t, uint64_t, uint64_t));

#define EXPORTED __attribute__((visibility("default")))
EXPORTED int qemu_plugin_version = 1;

static uint64_t count;
static FILE* file;

static void executed(unsigned cpu, void* instructions) {
  (void)cpu;
  count += (uintptr_t)instructions;
}

static void translated(plugin_id id, struct qemu_plugin_tb* block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0,
                                       (void*)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void called(plugin_id id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
                   uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
  (void)id, (void)cpu, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
  if (number != 1000000) return;
  fprintf(file, "%" PRIu64 "\n", count);
  fflush(file);
}

EXPORTED int qemu_plugin_install(plugin_id id, const void* info, int argc, char** argv) {
  (void)info;
  if (argc != 1 || strncmp(argv[0], "counts=", 7) != 0) return 1;
  file = fopen(argv[0] + 7, "w");
  if (file == NULL) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, called);
  return 0;
}
