import type { Grid, Worst } from './grid'
import { bySimilarity, type Ordering } from './order'

/** Larger grids are ordered by a worker: in more than 50 ms. */
const LARGEST_AT_ONCE = 100

/** Order a grid by similarity and call `done`, for a small grid at once. Return how to stop. */
export function orderAside(grid: Grid, worst: Worst, isSquare: boolean, done: (order: Ordering) => void): () => void {
  if (Math.max(grid.rows, grid.columns) <= LARGEST_AT_ONCE || typeof Worker === 'undefined') {
    done(bySimilarity(grid, worst, isSquare))
    return () => {}
  }
  const worker = new Worker(new URL('./order.worker.ts', import.meta.url), { type: 'module' })
  worker.onmessage = ({ data }: MessageEvent<Ordering>) => {
    worker.terminate()
    done(data)
  }
  worker.postMessage([grid, worst, isSquare])
  return () => worker.terminate()
}
