/** Numbers that stay on the line of their unit, wherever a text of the console has both. */

import type { Plugin } from 'vite'

/** The space between a number, or what is put in its place, and a unit. */
const BEFORE_UNIT =
  /(?<=[\d}]) (?=(?:%|[µmn]?s|min|h|d|days|points|Hz|[kMG]i?B|[kMG]bit\/s|MB\/s)(?![\w$(=-])|\$\{(?:unit|UNITS|PREFIXES|zoneName)\b)|(?<=±) /g

/** Return code in which no line breaks between a number and its unit; a no-break space between other words of it is a space. */
export const unbroken = (code: string) => code.replace(BEFORE_UNIT, '\u00a0')

/** Replace these spaces as the console is built: tests read its texts as they are written. */
export const keepUnits: Plugin = {
  name: 'keep-units',
  apply: 'build',
  enforce: 'pre',
  transform: (code, id) =>
    /\/src\/(?:features|lib|ui)\/.*\.tsx?$/.test(id) ? { code: unbroken(code), map: null } : null,
}
