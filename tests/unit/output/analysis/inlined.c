/* SPDX-License-Identifier: Apache-2.0 */
#include "inlined.h"

#include <check.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <unistd.h>

const char *const inlined_source = YARN_INLINED_SOURCE;

static const char *const compilers[] = {YARN_INLINED_COMPILERS};

int inlined_count(void)
{
    return (int)YARN_COUNT_OF(compilers);
}

static void read_symbols(Elf *elf, struct inlined *ret_module)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Sym symbol;
    while ((section = elf_nextscn(elf, section))) {
        ck_assert_ptr_nonnull(gelf_getshdr(section, &header));
        if (header.sh_type != SHT_SYMTAB)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
            const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (strcmp(name, "at_add") == 0)
                ret_module->at_add = symbol.st_value;
            if (strcmp(name, "at_day") == 0)
                ret_module->at_day = symbol.st_value;
            if (strcmp(name, "at_tip") == 0)
                ret_module->at_tip = symbol.st_value;
        }
    }
    ck_assert_uint_ne(ret_module->at_add, 0);
    ck_assert_uint_ne(ret_module->at_day, 0);
    ck_assert_uint_ne(ret_module->at_tip, 0);
}

struct inlined inlined_of(int compiler, const char *kind)
{
    struct inlined module = {0};
    const void *bits;
    (void)snprintf(module.path, sizeof module.path, "%s/%s/whole", YARN_INLINED_FOLDER,
                   compilers[compiler]);
    int fd = open(module.path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    ck_assert_ptr_nonnull(elf);
    read_symbols(elf, &module);
    ssize_t size = dwelf_elf_gnu_build_id(elf, &bits);
    ck_assert(size > 2 && (size_t)size <= sizeof module.build_id);
    memcpy(module.build_id, bits, (size_t)size);
    module.build_id_size = (size_t)size;
    (void)elf_end(elf);
    (void)close(fd);
    (void)snprintf(module.path, sizeof module.path, "%s/%s/%s", YARN_INLINED_FOLDER,
                   compilers[compiler], kind);
    return module;
}

uint32_t inlined_line(const char *comment)
{
    char line[256], wanted[64];
    uint32_t number = 0;
    (void)snprintf(wanted, sizeof wanted, "/* LINE %s */", comment);
    FILE *file = fopen(inlined_source, "re");
    ck_assert_ptr_nonnull(file);
    do {
        ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
        number++;
    } while (!strstr(line, wanted));
    (void)fclose(file);
    return number;
}
