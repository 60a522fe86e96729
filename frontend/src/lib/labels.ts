/** Labels as people type them: one `name=value` on each line. */

export type Labels = Record<string, string>

const typedLines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Return labels as lines, by name. */
export const labelLines = (labels: Labels): string =>
  Object.entries(labels)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')

/** Return the first line that is no `name=value`, or names a label once more; null if there is none. */
export function wrongLabel(text: string): string | null {
  const seen = new Set<string>()
  for (const line of typedLines(text)) {
    const name = line.split('=', 1)[0]?.trim() ?? ''
    if (!line.includes('=') || name === '' || seen.has(name)) return line
    seen.add(name)
  }
  return null
}

/** Return the labels of lines that are all right. A value may contain equals signs. */
export const labelsIn = (text: string): Labels =>
  Object.fromEntries(
    typedLines(text).map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
