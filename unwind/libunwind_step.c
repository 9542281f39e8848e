/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/libunwind_step.h"

#include "core/base/pages.h"
#include "unwind/libunwind_host.h"

/* Internal to libunwind, for struct dwarf_cie_info: from the very source that is linked. */
#define UNW_REMOTE_ONLY
#include <dwarf.h>

struct yarn_libunwind {
    unw_addr_space_t space; /* owned */
    const struct yarn_unwind_machine *machine;
    struct dwarf_cie_info cie; /* of the FDE that was found last */

    /* The step in progress; borrowed for its length. */
    const struct yarn_module *module;
    const struct yarn_stack_copy *stack;
    const struct yarn_registers *registers;
    uint64_t lookup_ip;

    bool missed_register;
    uint64_t missed_address; /* 0: every word that was read was there */
};

/* Call frame information has addresses of our own mapping of the file: they are not those of the
 * host, but the only ones that .debug_frame has at all. */
static uint64_t own_address(const uint8_t *data)
{
    return (uint64_t)(uintptr_t)data;
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info,
                          int need_unwind_info, void *arg)
{
    struct yarn_libunwind *libunwind = arg;
    const struct yarn_module *module = libunwind->module;
    struct yarn_fde fde;
    (void)space;
    (void)need_unwind_info;
    /* libunwind keeps rows, and in them the addresses of expressions. */
    yarn_view_keep(module->image->view, true);
    int err = yarn_cfi_find(module->image, ip - module->bias, &fde);
    yarn_view_keep(module->image->view, false);
    if (err)
        return -UNW_ENOINFO;
    uint64_t cie_start = own_address(fde.cie_instructions.data);
    uint64_t fde_start = own_address(fde.instructions.data);
    libunwind->cie = (struct dwarf_cie_info){
        .cie_instr_start = cie_start,
        .cie_instr_end = cie_start + fde.cie_instructions.size,
        .fde_instr_start = fde_start,
        .fde_instr_end = fde_start + fde.instructions.size,
        .code_align = fde.code_align,
        .data_align = (unw_word_t)fde.data_align,
        .ret_addr_column = fde.return_register,
        .fde_encoding = fde.pointer_encoding,
        .sized_augmentation = 1,
        .signal_frame = fde.is_signal_frame,
    };
    memset(info, 0, sizeof *info);
    info->start_ip = fde.start + module->bias;
    info->end_ip = fde.end + module->bias;
    info->format = UNW_INFO_FORMAT_REMOTE_TABLE; /* the one whose unwind_info stays ours */
    info->unwind_info = &libunwind->cie;
    info->unwind_info_size = sizeof libunwind->cie;
    return 0;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
    (void)space;
    (void)info;
    (void)arg;
}

static int find_dynamic_list(unw_addr_space_t space, unw_word_t *ret_address, void *arg)
{
    (void)space;
    (void)ret_address;
    (void)arg;
    return -UNW_ENOINFO;
}

/* It reads bytes as parts of aligned words, so a word may hang over either end of the file. */
static bool read_own(struct yarn_span memory, uint64_t address, unw_word_t *ret_word)
{
    uint64_t start = own_address(memory.data), end = start + memory.size;
    if (address >= end || address + sizeof *ret_word <= start)
        return false;
    uint64_t from = yarn_u64_max(address, start);
    uint64_t to = yarn_u64_min(address + sizeof *ret_word, end);
    uint8_t bytes[sizeof *ret_word] = {0};
    memcpy(bytes + (from - address), memory.data + (from - start), (size_t)(to - from));
    memcpy(ret_word, bytes, sizeof bytes);
    return true;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *word, int is_write,
                      void *arg)
{
    struct yarn_libunwind *libunwind = arg;
    uint64_t value;
    (void)space;
    if (is_write)
        return -UNW_EINVAL;
    if (yarn_stack_copy_read(libunwind->stack, address, &value)) {
        *word = value;
        return 0;
    }
    if (read_own(libunwind->module->image->memory, address, word))
        return 0;
    libunwind->missed_address = address;
    return -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int is_write,
                      void *arg)
{
    struct yarn_libunwind *libunwind = arg;
    const struct yarn_registers *registers = libunwind->registers;
    const struct yarn_unwind_machine *machine = libunwind->machine;
    (void)space;
    if (is_write)
        return -UNW_EREADONLYREG;
    if (number == machine->ip) {
        *value = libunwind->lookup_ip;
    } else if (number == machine->sp) {
        *value = registers->sp;
    } else if (number >= 0 && number < YARN_REGISTERS_MAX &&
               yarn_registers_has(registers, (unsigned)number)) {
        *value = registers->value[number];
    } else {
        libunwind->missed_register = true;
        return -UNW_EBADREG;
    }
    return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value,
                        int is_write, void *arg)
{
    (void)space;
    (void)number;
    (void)value;
    (void)is_write;
    (void)arg;
    return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
    (void)space;
    (void)cursor;
    (void)arg;
    return -UNW_EINVAL;
}

static int name_procedure(unw_addr_space_t space, unw_word_t address, char *buffer, size_t size,
                          unw_word_t *ret_offset, void *arg)
{
    (void)space;
    (void)address;
    (void)buffer;
    (void)size;
    (void)ret_offset;
    (void)arg;
    return -UNW_ENOINFO;
}

int yarn_libunwind_new(struct yarn_libunwind **ret_libunwind,
                       const struct yarn_unwind_machine *machine, size_t cache_entries)
{
    static unw_accessors_t accessors = {
        .find_proc_info = find_proc_info,
        .put_unwind_info = put_unwind_info,
        .get_dyn_info_list_addr = find_dynamic_list,
        .access_mem = access_mem,
        .access_reg = access_reg,
        .access_fpreg = access_fpreg,
        .resume = resume,
        .get_proc_name = name_procedure,
    };
    struct yarn_libunwind *libunwind = yarn_pages_map(sizeof *libunwind);
    if (!libunwind)
        return -ENOMEM;
    libunwind->machine = machine;
    libunwind->space = unw_create_addr_space(&accessors, 0);
    if (!libunwind->space) {
        yarn_pages_unmap(libunwind, sizeof *libunwind);
        return -ENOMEM;
    }
    (void)unw_set_caching_policy(libunwind->space, UNW_CACHE_GLOBAL);
    /* The first call makes the cache, at its default size whatever is passed; the second
     * resizes it. A size that cannot be allocated leaves a smaller cache and is no failure. */
    (void)unw_set_cache_size(libunwind->space, cache_entries, 0);
    (void)unw_set_cache_size(libunwind->space, cache_entries, 0);
    *ret_libunwind = libunwind;
    return 0;
}

void yarn_libunwind_free(struct yarn_libunwind *libunwind)
{
    if (!libunwind)
        return;
    /* It forgets to unmap a cache that was resized: what it maps for a smaller one is known. */
    yarn_libunwind_host_note();
    (void)unw_set_cache_size(libunwind->space, 1, 0);
    unw_destroy_addr_space(libunwind->space);
    yarn_libunwind_host_unmap_noted();
    yarn_pages_unmap(libunwind, sizeof *libunwind);
}

void yarn_libunwind_flush_cache(struct yarn_libunwind *libunwind)
{
    unw_flush_cache(libunwind->space, 0, 0);
}

/* A slot below sp was popped: the register has its value back, although the tables say saved. */
static bool was_popped(const struct yarn_libunwind *libunwind, unsigned number)
{
    enum { RED_ZONE_AND_FRAMES = 1 << 20 };
    const struct yarn_registers *registers = libunwind->registers;
    return libunwind->missed_address && libunwind->missed_address < registers->sp &&
           registers->sp - libunwind->missed_address < RED_ZONE_AND_FRAMES &&
           yarn_registers_has(registers, number);
}

static void take_register(struct yarn_libunwind *libunwind, unw_cursor_t *cursor, unsigned number,
                          struct yarn_registers *next)
{
    unw_word_t value;
    libunwind->missed_address = 0;
    if (unw_get_reg(cursor, (unw_regnum_t)number, &value) == 0)
        next->value[number] = value;
    else if (was_popped(libunwind, number))
        next->value[number] = libunwind->registers->value[number];
    else
        return;
    next->valid |= UINT64_C(1) << number;
}

static enum yarn_step take_registers(struct yarn_libunwind *libunwind, unw_cursor_t *cursor,
                                     bool is_signal, struct yarn_registers *registers)
{
    const struct yarn_unwind_machine *machine = libunwind->machine;
    struct yarn_registers next = {.valid = 0};
    unw_word_t ip, sp;
    if (unw_get_reg(cursor, UNW_REG_IP, &ip) || unw_get_reg(cursor, UNW_REG_SP, &sp))
        return YARN_STEP_FAILED;
    /* What a signal interrupted at 0 has a caller: it was called there. */
    if (ip == 0)
        return is_signal ? YARN_STEP_FAILED : YARN_STEP_END;
    /* vfork keeps its return address in a register, and leaves no word on the stack. */
    bool is_onwards = sp > registers->sp || (sp == registers->sp && ip != registers->ip);
    if (!is_signal && !is_onwards)
        return YARN_STEP_FAILED;
    uint64_t kept = is_signal ? (UINT64_C(1) << machine->ip) - 1 : machine->kept;
    for (unsigned number = 0; number < machine->ip; number++)
        if ((kept >> number & 1) && number != machine->sp)
            take_register(libunwind, cursor, number, &next);
    next.ip = ip;
    next.sp = sp;
    *registers = next;
    return YARN_STEP_OK;
}

static enum yarn_step judge_failure(const struct yarn_libunwind *libunwind)
{
    if (libunwind->missed_address)
        return yarn_step_missing(libunwind->stack, libunwind->missed_address);
    return libunwind->missed_register ? YARN_STEP_UNKNOWN : YARN_STEP_FAILED;
}

enum yarn_step yarn_libunwind_step(struct yarn_libunwind *libunwind,
                                   const struct yarn_module *module, uint64_t lookup_ip,
                                   bool is_signal, const struct yarn_stack_copy *stack,
                                   struct yarn_registers *registers)
{
    unw_cursor_t cursor;
    libunwind->module = module;
    libunwind->stack = stack;
    libunwind->registers = registers;
    libunwind->lookup_ip = lookup_ip;
    libunwind->missed_register = false;
    libunwind->missed_address = 0;
    if (unw_init_remote(&cursor, libunwind->space, libunwind))
        return YARN_STEP_FAILED;
    /* 0 would be an undefined return address, which is the caller's to know, or a give-up. */
    if (unw_step(&cursor) <= 0)
        return judge_failure(libunwind);
    return take_registers(libunwind, &cursor, is_signal, registers);
}
