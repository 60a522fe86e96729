import { PAGE, type Rgb, sequential, type Theme } from '~/charts/heatmap/palette'
import { useDrawnSvg } from '../useDrawnSvg'
import { type Arc, arcPath, type Place, strip } from './geometry'
import styles from './moves.module.css'

interface Props {
  /** The accessible name of the strip. */
  label: string
  places: Place[]
  /** The place everything is measured from. */
  origin: number | null
  arcs: Arc[]
  theme: Theme
  /** Each place as a sentence, shown by the pointer. */
  describe: (place: Place) => string
}

const css = ([red, green, blue]: Rgb) => `rgb(${red} ${green} ${blue})`

/** Places in a row, coloured by their distance from one of them, with arrows for moves. */
export function Strip({ label, places, origin, arcs, theme, describe }: Props) {
  const { width, height, cell, top, groups } = strip(places, arcs)
  const ramp = sequential(theme)
  const frame = useDrawnSvg()
  const centre = (at: number) => at * cell + cell / 2
  return (
    <div ref={frame} className={styles.frame}>
      <svg className={styles.strip} viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img">
        <title>{label}</title>
        <defs>
          <marker id="arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">
            <path d="M0 0 6 3 0 6Z" className={styles.head} />
          </marker>
        </defs>
        {arcs.map((arc) => (
          <path
            key={`${arc.from} ${arc.to}`}
            d={arcPath(centre(arc.from), centre(arc.to), top)}
            className={arc.faint ? styles.faint : styles.arc}
            markerEnd="url(#arrow)"
          />
        ))}
        {places.map((place, at) => (
          <g key={place.key} transform={`translate(${at * cell} ${top})`}>
            <rect
              x={1}
              y={1}
              width={cell - 2}
              height={cell - 2}
              rx={3}
              fill={place.share === null ? css(PAGE[theme]) : css(ramp(place.share))}
              className={styles.cell}
            >
              <title>{describe(place)}</title>
            </rect>
            {at === origin && <circle cx={cell / 2} cy={cell / 2} r={cell / 5} className={styles.origin} />}
            {place.filled && at !== origin && (
              <circle cx={cell / 2} cy={cell / 2} r={cell / 7} className={styles.filled} />
            )}
          </g>
        ))}
        {groups.map((group) => (
          <text
            key={group.name}
            x={(group.first + group.count / 2) * cell}
            y={top + cell + 14}
            className={styles.group}
            textAnchor="middle"
          >
            {group.name}
          </text>
        ))}
      </svg>
    </div>
  )
}
