/**
 * Seriation: an order in which similar rows stand together.
 *
 * Average-linkage clustering by the chain of nearest neighbours (F. Murtagh, "A survey of recent advances in hierarchical
 * clustering algorithms", The Computer Journal 26, 1983), its leaves turned as by G. Gruvaeus and H. Wainer, "Two
 * additions to hierarchical cluster analysis", British Journal of Mathematical and Statistical Psychology 25, 1972.
 */

/** `count` profiles of `length` numbers each, one after the other. */
export interface Profiles {
  values: Float32Array
  count: number
  length: number
}

/** Return the distances between all profiles, a square matrix. */
function distances({ values, count, length }: Profiles): Float32Array {
  const far = new Float32Array(count * count)
  for (let a = 0; a < count; a++) {
    for (let b = a + 1; b < count; b++) {
      let sum = 0
      for (let i = a * length, j = b * length, end = i + length; i < end; i++, j++) {
        const difference = (values[i] as number) - (values[j] as number)
        sum += difference * difference
      }
      const distance = Math.sqrt(sum)
      far[a * count + b] = distance
      far[b * count + a] = distance
    }
  }
  return far
}

/** Join two runs of leaves, each turned so that the ends that meet are as near as possible. */
function joined(left: number[], right: number[], far: Float32Array, count: number): number[] {
  const between = (a: number | undefined, b: number | undefined) => far[(a ?? 0) * count + (b ?? 0)] as number
  const choices = [
    { gap: between(left.at(-1), right[0]), turnLeft: false, turnRight: false },
    { gap: between(left.at(-1), right.at(-1)), turnLeft: false, turnRight: true },
    { gap: between(left[0], right[0]), turnLeft: true, turnRight: false },
    { gap: between(left[0], right.at(-1)), turnLeft: true, turnRight: true },
  ]
  const { turnLeft, turnRight } = choices.reduce((best, choice) => (choice.gap < best.gap ? choice : best))
  return [...(turnLeft ? left.reverse() : left), ...(turnRight ? right.reverse() : right)]
}

/** Return the order of the profiles: their indices. Time and memory grow with the square of their number. */
export function seriate(profiles: Profiles): number[] {
  const { count } = profiles
  if (count < 3) return Array.from({ length: count }, (_, at) => at)
  const far = distances(profiles)
  // Distances of clusters, each at the index of one of its leaves.
  const near = far.slice()
  const leaves: (number[] | null)[] = Array.from({ length: count }, (_, at) => [at])
  const chain: number[] = []
  for (let left = count; left > 1; ) {
    if (chain.length === 0) chain.push(leaves.findIndex((run) => run !== null))
    const end = chain.at(-1) as number
    const before = chain.at(-2)
    // Of equally near clusters the one before in the chain is preferred: the chain must not run in circles.
    let nearest = before ?? -1
    let least = before === undefined ? Number.POSITIVE_INFINITY : (near[end * count + before] as number)
    for (let other = 0; other < count; other++) {
      if (other === end || leaves[other] === null) continue
      const distance = near[end * count + other] as number
      if (distance < least) [nearest, least] = [other, distance]
    }
    if (nearest !== before) {
      chain.push(nearest)
      continue
    }
    chain.length -= 2
    const [a, b] = [leaves[nearest] as number[], leaves[end] as number[]]
    for (let other = 0; other < count; other++) {
      if (leaves[other] === null || other === end || other === nearest) continue
      const sum =
        a.length * (near[nearest * count + other] as number) + b.length * (near[end * count + other] as number)
      const mean = sum / (a.length + b.length)
      near[nearest * count + other] = mean
      near[other * count + nearest] = mean
    }
    leaves[nearest] = joined(a, b, far, count)
    leaves[end] = null
    left -= 1
  }
  return leaves.find((run) => run !== null) as number[]
}
