import { changed, PAGE, type Rgb, sequential, type Theme } from '~/charts/heatmap/palette'
import { changePositions } from '~/charts/heatmap/scale'
import { useDrawnSvg } from '../useDrawnSvg'
import styles from './trips.module.css'

interface Props {
  /** The accessible name of the grid. */
  label: string
  names: string[]
  values: (number | null)[][]
  /** Smallest and largest value of the scale; of changes, the smallest that is coloured. */
  range: [number, number]
  theme: Theme
  /** The values are changes: their scale is that of every picture of changes. */
  diverges?: boolean
  /** A cell as a sentence, shown by the pointer. */
  describe: (row: number, column: number) => string
  /** Cells to point out. */
  marked?: (row: number, column: number) => boolean
}

const css = ([red, green, blue]: Rgb) => `rgb(${red} ${green} ${blue})`
const SIDE = 280
/** With more rows than this there is no room for a name next to each. */
const MOST_NAMED = 24
const LONGEST = 16
const CHARACTER = 6.8

/** A small square grid of values or changes, coloured by logarithm; blank cells are unknown. Small grids show row and column names. */
export function TripsGrid({ label, names, values, range, theme, diverges, describe, marked }: Props) {
  const [plain, both] = [sequential(theme), changed(theme)]
  const position = changePositions(values.flat(), range[0])
  const cell = SIDE / Math.max(names.length, 1)
  const [low, high] = range.map((value) => Math.log(Math.max(value, 1))) as [number, number]
  const share = (value: number) =>
    high > low ? Math.min(Math.max((Math.log(Math.max(value, 1)) - low) / (high - low), 0), 1) : 0
  const colour = (value: number) =>
    css(diverges ? both(Math.abs(value) < range[0] ? 0.5 : position(value)) : plain(share(value)))
  const words = names.map((name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name))
  const room = names.length > MOST_NAMED ? 0 : Math.max(...words.map((word) => word.length), 0) * CHARACTER + 14
  const all = SIDE + room
  const picture = useDrawnSvg()
  return (
    <svg
      ref={picture}
      className={styles.grid}
      viewBox={`${-room} ${-room} ${all} ${all}`}
      width={all}
      height={all}
      role="img"
    >
      <title>{label}</title>
      {room > 0 &&
        words.map((word, at) => {
          const middle = (at + 0.5) * cell
          return (
            <g key={names[at]} className={styles.names}>
              <text x={-6} y={middle}>
                {word}
              </text>
              <text className={styles.upright} transform={`translate(${middle} -6) rotate(-90)`}>
                {word}
              </text>
            </g>
          )
        })}
      {values.flatMap((row, y) =>
        row.map((value, x) => (
          <rect
            key={`${names[y]} ${names[x]}`}
            x={x * cell + 0.5}
            y={y * cell + 0.5}
            width={Math.max(cell - 1, 0.5)}
            height={Math.max(cell - 1, 0.5)}
            fill={value === null ? css(PAGE[theme]) : colour(value)}
            className={marked?.(y, x) ? styles.marked : value === null ? styles.hole : undefined}
          >
            <title>{describe(y, x)}</title>
          </rect>
        )),
      )}
    </svg>
  )
}
