/** Return the bytes of a matrix of `size` rows of a mesh at revision 1, by cell its code and its state. */
export function matrixOf(
  size: number,
  code: (cell: number) => number,
  state: (cell: number) => number = () => 0,
  endMs = 0,
): Response {
  const cells = size * size
  const bytes = new ArrayBuffer(24 + 3 * cells)
  const header = new DataView(bytes)
  for (const [at, value] of [0x314d_4e53, size, size, 1].entries()) header.setUint32(4 * at, value, true)
  header.setBigInt64(16, BigInt(endMs), true)
  new Uint16Array(bytes, 24, cells).set(Array.from({ length: cells }, (_, cell) => code(cell)))
  new Uint8Array(bytes, 24 + 2 * cells).set(Array.from({ length: cells }, (_, cell) => state(cell)))
  return new Response(bytes, { headers: { 'Content-Type': 'application/octet-stream' } })
}
