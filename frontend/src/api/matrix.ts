/**
 * The binary matrix, little-endian:
 *
 *   0   4  magic "SNM1"
 *   4   4  rows
 *   8   4  columns
 *  12   4  revision of the mesh
 *  16   8  end of the newest window, Unix milliseconds (signed)
 *  24      rows×columns uint16 codes, row-major [source][target], 0 = no value
 *          rows×columns uint8 states
 */

export const STATES = [
  'measured',
  'not_planned',
  'no_data',
  'stale',
  'lost',
  'no_baseline',
  'earlier',
  'estimated',
  'no_service',
] as const

const HEADER = 24
const MAGIC = 0x314d_4e53

export interface Matrix {
  rows: number
  columns: number
  revision: number
  windowEnd: Date | null
  codes: Uint16Array
  states: Uint8Array
}

/** @throws Error naming what is wrong with the bytes. */
export function parseMatrix(buffer: ArrayBuffer): Matrix {
  if (buffer.byteLength < HEADER) throw new Error(`A matrix has at least ${HEADER} bytes, not ${buffer.byteLength}.`)
  const header = new DataView(buffer)
  if (header.getUint32(0, true) !== MAGIC) throw new Error('These bytes are not a matrix of version 1.')
  const rows = header.getUint32(4, true)
  const columns = header.getUint32(8, true)
  const cells = rows * columns
  if (buffer.byteLength !== HEADER + 3 * cells) {
    throw new Error(`A ${rows}×${columns} matrix has ${HEADER + 3 * cells} bytes, not ${buffer.byteLength}.`)
  }
  const end = Number(header.getBigInt64(16, true))
  return {
    rows,
    columns,
    revision: header.getUint32(12, true),
    windowEnd: end > 0 ? new Date(end) : null,
    codes: new Uint16Array(buffer, HEADER, cells),
    states: new Uint8Array(buffer, HEADER + 2 * cells, cells),
  }
}
