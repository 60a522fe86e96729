/** Commands that people copy into a shell. */

/** Quote a text for a POSIX shell. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9._:@/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
