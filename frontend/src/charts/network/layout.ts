/** Places of the nodes of a small network: inner ones in the middle, the others around them. */

export interface Point {
  x: number
  y: number
}

/** Return the places of `inner` and `outer` nodes, inner ones first, around the middle of a square of `size`. */
export function places(inner: number, outer: number, size: number, margin: number): Point[] {
  const middle = size / 2
  const reach = middle - margin
  const ring = (count: number, radius: number, turn: number) =>
    Array.from({ length: count }, (_, at) => {
      const angle = (2 * Math.PI * (at + turn)) / count - Math.PI / 2
      return { x: middle + radius * Math.cos(angle), y: middle + radius * Math.sin(angle) }
    })
  const inside = outer === 0 ? reach : inner === 1 ? 0 : reach * 0.42
  // Less than half a step apart: two servers between four clients would lie on one line with two of them.
  return [...ring(inner, inside, 0.3), ...ring(outer, reach, 0)]
}
