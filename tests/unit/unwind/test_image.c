/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/sys/file.h"
#include "tests/support/made_elf.h"
#include "tests/support/suite.h"
#include "unwind/image.h"

extern const char __executable_start;

static const uint8_t build_id_note[] = {4, 0, 0,   0,   4,   0, 0, 0, 3, 0,
                                        0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4};
static const uint8_t property_note[] = {4, 0, 0, 0, 16, 0, 0, 0, 5, 0, 0, 0, 'G', 'N', 'U', 0,
                                        1, 0, 0, 0, 4,  0, 0, 0, 3, 0, 0, 0, 0,   0,   0,   0};

/* Every byte that the image offers is touched: ASan sees what lies outside. */
static unsigned touch(struct yarn_span span)
{
    unsigned sum = 0;
    for (size_t i = 0; i < span.size; i++)
        sum += span.data[i];
    return sum;
}

static unsigned touch_all(const struct yarn_image *image)
{
    unsigned sum = touch(image->eh_frame.bytes) + touch(image->eh_frame_hdr.bytes) +
                   touch(image->debug_frame.bytes) + touch(image->plt.bytes);
    ck_assert_uint_le(image->nr_segments, YARN_IMAGE_SEGMENTS_MAX);
    ck_assert_uint_le(image->build_id.size, YARN_BUILD_ID_MAX);
    for (unsigned i = 0; i < image->nr_segments; i++) {
        uint64_t vaddr;
        sum += touch(yarn_image_at(image, image->segments[i].vaddr));
        sum += touch(yarn_image_at(image, image->segments[i].vaddr + image->segments[i].size - 1));
        sum += yarn_image_vaddr_of(image, image->segments[i].file_offset, &vaddr);
    }
    sum += touch(yarn_image_at(image, 0)) + touch(yarn_image_at(image, UINT64_MAX));
    return sum;
}

/* An allocation of exactly the file's size, so that one byte more is seen. */
static unsigned open_exactly(struct yarn_span file)
{
    struct yarn_image image;
    uint8_t *copy = malloc(file.size ? file.size : 1);
    unsigned opened = 0;
    memcpy(copy, file.data, file.size);
    if (yarn_image_open_bytes(&image, yarn_span_of(copy, file.size)) == 0) {
        opened = 1 + (touch_all(&image) & 1);
        yarn_image_close(&image);
    }
    free(copy);
    return opened;
}

/* A small file with one of everything. */
static struct yarn_span make_file(struct made_elf *elf)
{
    static const uint8_t code[256] = {0x90};
    /* Version 1, eh_frame_ptr pcrel sdata4, no table. */
    uint8_t header[8] = {1, 0x1b, 0xff, 0xff};
    made_elf_begin(elf, EM_X86_64);
    uint64_t text = made_elf_put(elf, code, sizeof code, 16);
    uint64_t note = made_elf_put(elf, build_id_note, sizeof build_id_note, 4);
    made_elf_section(elf, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000 + text, text, 32);
    made_elf_eh_frame(elf, 0x1000, &(struct made_function){0x1000 + text, 0x1000 + text + 256}, 1);
    uint64_t frames = elf->sections[made_elf_last_section(elf)].sh_addr;
    uint64_t at = yarn_align_up(elf->size, 8);
    uint32_t distance = (uint32_t)(frames - (0x1000 + at + 4));
    memcpy(header + 4, &distance, sizeof distance);
    made_elf_put(elf, header, sizeof header, 8);
    made_elf_load_all(elf, 0x1000, elf->size);
    made_elf_segment(elf, PT_NOTE, PF_R, 0x1000 + note, note, sizeof build_id_note);
    made_elf_segment(elf, PT_GNU_EH_FRAME, PF_R, 0x1000 + at, at, sizeof header);
    return made_elf_end(elf);
}

static void open_made(struct yarn_image *image, struct yarn_span file)
{
    ck_assert_int_eq(yarn_image_open_bytes(image, file), 0);
}

START_TEST(own_program_has_what_the_loader_sees)
{
    struct yarn_image image;
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, "/proc/self/exe"), 0);
    ck_assert(image.segments[0].executable);
    ck_assert_uint_gt(image.eh_frame_hdr.bytes.size, 8);
    ck_assert(yarn_section_need(&image.eh_frame_hdr, 0, 64));
    ck_assert_uint_eq(image.eh_frame_hdr.bytes.data[0], 1);
    ck_assert(yarn_section_need(&image.eh_frame, 0, 64));
    /* The same bytes stand in memory: the file is the program that runs. */
    uint64_t start = (uint64_t)(uintptr_t)&__executable_start;
    const uint8_t *table = (const uint8_t *)(uintptr_t)(start + image.eh_frame_hdr.vaddr);
    ck_assert_mem_eq(table, image.eh_frame_hdr.bytes.data, 64);
    const uint8_t *frames = (const uint8_t *)(uintptr_t)(start + image.eh_frame.vaddr);
    ck_assert_mem_eq(frames, image.eh_frame.bytes.data, 64);
    yarn_image_close(&image);
    yarn_image_close(&image);
    ck_assert_ptr_null(image.memory.data);
}
END_TEST

START_TEST(copy_of_the_vdso_is_an_image)
{
    struct yarn_image image;
    const void *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    if (!vdso)
        return;
    ck_assert_int_eq(yarn_image_open_copy(&image, yarn_span_of(vdso, 4096)), 0);
    ck_assert_int_eq(image.origin, YARN_IMAGE_COPIED);
    ck_assert_ptr_ne(image.memory.data, vdso);
    ck_assert_uint_gt(image.eh_frame.bytes.size, 0);
    yarn_image_close(&image);
}
END_TEST

START_TEST(made_file_is_read_through_its_segments)
{
    static struct made_elf elf;
    struct yarn_image image;
    open_made(&image, make_file(&elf));
    ck_assert_uint_eq(image.nr_segments, 1);
    ck_assert_uint_eq(image.build_id.size, 4);
    ck_assert_mem_eq(image.build_id.bytes, "\1\2\3\4", 4);
    ck_assert_uint_eq(image.plt.bytes.size, 32);
    ck_assert_uint_eq(image.eh_frame_hdr.bytes.size, 8);
    /* The section is known, so its end is. */
    ck_assert_uint_eq(image.eh_frame.bytes.size, 24 + 24 + 4);
}
END_TEST

START_TEST(without_section_headers_eh_frame_goes_to_the_end_of_its_segment)
{
    static struct made_elf elf;
    struct yarn_image image;
    make_file(&elf);
    elf.header.e_shoff = 0;
    memcpy(elf.bytes, &elf.header, sizeof elf.header);
    open_made(&image, yarn_span_of(elf.bytes, elf.size));
    ck_assert_uint_eq(image.eh_frame.vaddr, elf.sections[2].sh_addr);
    ck_assert_uint_gt(image.eh_frame.bytes.size, 24 + 24 + 4);
    ck_assert_uint_eq(image.plt.bytes.size, 0);
}
END_TEST

START_TEST(without_eh_frame_segment_the_sections_are_used)
{
    static struct made_elf elf;
    struct yarn_image image;
    made_elf_begin(&elf, EM_X86_64);
    made_elf_eh_frame(&elf, 0, &(struct made_function){0x40, 0x80}, 1);
    uint64_t note = made_elf_put(&elf, build_id_note, sizeof build_id_note, 4);
    made_elf_section(&elf, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, note,
                     sizeof build_id_note);
    uint64_t hidden = made_elf_put(&elf, "compressed", 10, 1);
    made_elf_section(&elf, ".debug_frame", SHT_PROGBITS, SHF_COMPRESSED, 0, hidden, 10);
    made_elf_load_all(&elf, 0, elf.size);
    open_made(&image, made_elf_end(&elf));
    ck_assert_uint_eq(image.eh_frame.bytes.size, 24 + 24 + 4);
    ck_assert_uint_eq(image.build_id.size, 4);
    ck_assert_uint_eq(image.debug_frame.bytes.size, 0);
}
END_TEST

START_TEST(build_id_is_found_behind_a_note_that_is_padded_to_eight)
{
    static struct made_elf elf;
    struct yarn_image image;
    made_elf_begin(&elf, EM_X86_64);
    uint64_t note = made_elf_put(&elf, property_note, sizeof property_note, 8);
    made_elf_put(&elf, build_id_note, sizeof build_id_note, 8);
    made_elf_load_all(&elf, 0, elf.size);
    made_elf_segment(&elf, PT_NOTE, PF_R, note, note, elf.size - note)->p_align = 8;
    open_made(&image, made_elf_end(&elf));
    ck_assert_uint_eq(image.build_id.size, 4);
}
END_TEST

START_TEST(build_id_is_found_in_as_much_of_a_file_as_holds_it)
{
    static struct made_elf elf;
    struct yarn_build_id id;
    struct yarn_span file = make_file(&elf);
    bool was_found = false;
    for (size_t size = 0; size <= file.size; size++) {
        uint8_t *head = malloc(size + 1); /* so that a sanitizer sees a byte too much */
        memcpy(head, file.data, size);
        yarn_image_find_build_id(yarn_span_of(head, size), &id);
        free(head);
        ck_assert(id.size == 4 || (id.size == 0 && !was_found));
        was_found = id.size;
    }
    ck_assert(was_found);
    ck_assert_mem_eq(id.bytes, "\1\2\3\4", 4);
}
END_TEST

START_TEST(executable_segments_survive_the_bound)
{
    static struct made_elf elf;
    struct yarn_image image;
    made_elf_begin(&elf, EM_X86_64);
    for (unsigned i = 0; i < 40; i++)
        made_elf_segment(&elf, PT_LOAD, i == 39 ? PF_R | PF_X : PF_R, 0x1000 * i, 0, 16);
    open_made(&image, made_elf_end(&elf));
    ck_assert_uint_eq(image.nr_segments, YARN_IMAGE_SEGMENTS_MAX);
    ck_assert_uint_eq(image.segments[0].vaddr, 0x1000 * 39);
}
END_TEST

START_TEST(offset_of_a_mapping_may_lie_in_the_page_where_a_segment_begins)
{
    static struct made_elf elf;
    static const uint8_t filler[0x2000];
    struct yarn_image image;
    uint64_t vaddr = 0;
    made_elf_begin(&elf, EM_X86_64);
    made_elf_put(&elf, filler, sizeof filler, 16);
    made_elf_segment(&elf, PT_LOAD, PF_R, 0, 0, 0x1234);
    made_elf_segment(&elf, PT_LOAD, PF_R | PF_X, 0x5234, 0x1234, 0x400);
    open_made(&image, made_elf_end(&elf));
    ck_assert(yarn_image_vaddr_of(&image, 0x1000, &vaddr));
    ck_assert_uint_eq(vaddr, 0x5000);
    ck_assert(yarn_image_vaddr_of(&image, 0, &vaddr));
    ck_assert_uint_eq(vaddr, 0);
    ck_assert(!yarn_image_vaddr_of(&image, 0x2000, &vaddr));
    ck_assert_uint_eq(yarn_image_at(&image, 0x5234).size, 0x400);
    ck_assert_uint_eq(yarn_image_at(&image, 0x5633).size, 1);
    ck_assert_uint_eq(yarn_image_at(&image, 0x5634).size, 0);
}
END_TEST

START_TEST(files_beyond_two_gigabytes_are_read)
{
    static struct made_elf elf;
    struct yarn_image image;
    const uint64_t far = UINT64_C(3) << 30;
    uint64_t vaddr = 0;
    char path[] = "/tmp/yarn_big_XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    made_elf_begin(&elf, EM_X86_64);
    made_elf_segment(&elf, PT_LOAD, PF_R | PF_X, far + 0x1000, far, 64);
    struct yarn_span file = made_elf_end(&elf);
    if (ftruncate(fd, (off_t)far + 4096) != 0) {
        printf("skipped: the file system of /tmp has no files of 3 GiB\n");
        close(fd);
        unlink(path);
        return;
    }
    ck_assert_int_eq(pwrite(fd, file.data, file.size, 0), (ssize_t)file.size);
    ck_assert_int_eq(pwrite(fd, "far", 3, (off_t)far), 3);
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, path), 0);
    ck_assert_mem_eq(yarn_image_at(&image, far + 0x1000).data, "far", 3);
    ck_assert(yarn_image_vaddr_of(&image, far, &vaddr));
    ck_assert_uint_eq(vaddr, far + 0x1000);
    yarn_image_close(&image);
    unlink(path);
    close(fd);
}
END_TEST

START_TEST(what_is_no_elf_file_is_refused)
{
    struct yarn_image image;
    static struct made_elf elf;
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, "/etc/passwd"), -ENOEXEC);
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, "/dev/null"), -ENOEXEC);
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, "/tmp"), -ENOEXEC);
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, "/no/such/file"), -ENOENT);
    ck_assert_int_eq(yarn_image_open_bytes(&image, YARN_SPAN_EMPTY), -ENOEXEC);
    ck_assert_int_eq(yarn_image_open_copy(&image, YARN_SPAN_EMPTY), -ENOEXEC);
    made_elf_begin(&elf, EM_386);
    made_elf_load_all(&elf, 0, 64);
    ck_assert_int_eq(yarn_image_open_bytes(&image, made_elf_end(&elf)), -ENOEXEC);
}
END_TEST

START_TEST(file_cut_at_any_length_is_read_within_its_bounds)
{
    static struct made_elf elf;
    struct yarn_span file = make_file(&elf);
    unsigned opened = 0;
    for (size_t size = 0; size <= file.size; size++)
        opened += open_exactly(yarn_span_of(file.data, size)) != 0;
    ck_assert_uint_gt(opened, 1);
}
END_TEST

/* Every 2, 4 and 8 bytes of the headers with extreme values. */
START_TEST(extreme_header_values_stay_within_the_file)
{
    static const uint64_t extremes[] = {0,
                                        1,
                                        2,
                                        0x3f,
                                        0x40,
                                        0x41,
                                        0xfff,
                                        0x1000,
                                        0x7fff,
                                        0x8000,
                                        0xffff,
                                        0x7fffffff,
                                        0x80000000,
                                        0xffffffff,
                                        UINT64_MAX,
                                        INT64_MAX,
                                        UINT64_C(1) << 63,
                                        UINT64_MAX - 0xfff,
                                        UINT64_MAX - 0x1000 + 64};
    static struct made_elf elf;
    struct yarn_span file = make_file(&elf);
    uint8_t saved[8];
    unsigned opened = 0;
    for (size_t at = 16; at + 8 <= file.size; at += at < 64 || at >= elf.header.e_phoff ? 2 : 8) {
        memcpy(saved, elf.bytes + at, 8);
        for (size_t i = 0; i < YARN_COUNT_OF(extremes); i++) {
            for (size_t width = 2; width <= 8; width *= 2) {
                memcpy(elf.bytes + at, &extremes[i], width);
                opened += open_exactly(file) != 0;
                memcpy(elf.bytes + at, saved, 8);
            }
        }
    }
    ck_assert_uint_gt(opened, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("image");
    TCase *tests = tcase_create("image");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, own_program_has_what_the_loader_sees);
    tcase_add_test(tests, copy_of_the_vdso_is_an_image);
    tcase_add_test(tests, made_file_is_read_through_its_segments);
    tcase_add_test(tests, without_section_headers_eh_frame_goes_to_the_end_of_its_segment);
    tcase_add_test(tests, without_eh_frame_segment_the_sections_are_used);
    tcase_add_test(tests, build_id_is_found_behind_a_note_that_is_padded_to_eight);
    tcase_add_test(tests, build_id_is_found_in_as_much_of_a_file_as_holds_it);
    tcase_add_test(tests, executable_segments_survive_the_bound);
    tcase_add_test(tests, offset_of_a_mapping_may_lie_in_the_page_where_a_segment_begins);
    tcase_add_test(tests, files_beyond_two_gigabytes_are_read);
    tcase_add_test(tests, what_is_no_elf_file_is_refused);
    tcase_add_test(tests, file_cut_at_any_length_is_read_within_its_bounds);
    tcase_add_test(tests, extreme_header_values_stay_within_the_file);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
