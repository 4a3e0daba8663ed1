/* Whether a compiler has the headers that the checker needs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) { return printf("%d", (int)strlen("")) < 0; }
