/*
 * Swaps two names for each other, over and over, until its parent has ended: swap A B. For the race tests of apply.
 * cc -O1 -o swap swap.c
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  pid_t parent = getppid();
  while (getppid() == parent) {
    for (int i = 0; i < 1000; i++) {
      if (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) != 0) return 1;
    }
  }
  return 0;
}
