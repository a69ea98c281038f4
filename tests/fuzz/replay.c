/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c: run a fuzz target over files and folders of files: its corpus, or what a fuzzer found.
 *
 * Exit code 0 if all passed, 2 if a file cannot be read or there is none. A broken law aborts. */
#include "fuzz.h"
#undef LLVMFuzzerTestOneInput

#include <dirent.h>
#include <sys/stat.h>

static int replay_file(const char *path, unsigned *runs)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t size = 0;
    size_t capacity = 0;

    if (!file) {
        perror(path);
        return 2;
    }
    do {
        if (size == capacity) {
            capacity = capacity ? capacity * 2 : 4096;
            bytes = realloc(bytes, capacity);
            if (!bytes)
                abort();
        }
        size += fread(bytes + size, 1, capacity - size, file);
    } while (size == capacity);
    fclose(file);

    /* An allocation of exactly that size, so that a read too far is seen. */
    uint8_t *exact = malloc(size ? size : 1);

    if (!exact)
        abort();
    memcpy(exact, bytes, size);
    free(bytes);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    ++*runs;
    return 0;
}

static int replay_folder(const char *path, unsigned *runs)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int result = 0;

    if (!folder) {
        perror(path);
        return 2;
    }
    while (result == 0 && (entry = readdir(folder))) {
        char inside[4096];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(inside, sizeof(inside), "%s/%s", path, entry->d_name);
        result = replay_file(inside, runs);
    }
    closedir(folder);
    return result;
}

int main(int argc, char **argv)
{
    unsigned runs = 0;

    for (int i = 1; i < argc; i++) {
        struct stat about;
        int result = stat(argv[i], &about) == 0 && S_ISDIR(about.st_mode)
                         ? replay_folder(argv[i], &runs)
                         : replay_file(argv[i], &runs);

        if (result != 0)
            return result;
    }
    printf("%u passed, 0 failed\n", runs);
    return runs ? 0 : 2;
}
