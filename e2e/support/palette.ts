/** Reduce pictures to 64 colours: a third of the size, and differences far below the tolerance of a comparison. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import UPNG from 'upng-js'

const FOLDERS = ['../screenshots', '../../docs/images'].map((folder) => join(import.meta.dirname, folder))
const COLOUR_TYPE_AT = 25
const PALETTE = 3
const COLOURS = 64

const paths = FOLDERS.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
for (const path of paths.filter((name) => name.endsWith('.png'))) {
  const bytes = readFileSync(path)
  if (bytes[COLOUR_TYPE_AT] === PALETTE) continue
  const picture = UPNG.decode(new Uint8Array(bytes).buffer)
  writeFileSync(path, Buffer.from(UPNG.encode(UPNG.toRGBA8(picture), picture.width, picture.height, COLOURS)))
}
