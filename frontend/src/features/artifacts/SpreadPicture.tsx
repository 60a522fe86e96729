import type { ArtifactCopies } from '~/api/types'
import styles from './artifacts.module.css'
import { type Origin, PLACE_HEIGHT, pathOf, pictureOf } from './spread'
import { strings } from './strings'

export const ORIGINS: readonly (readonly [Origin, string])[] = [
  ['before', strings.heldBefore],
  ['nearby', strings.fromNearby],
  ['elsewhere', strings.fromElsewhere],
  ['backend', strings.fromBackend],
]
const WIDEST = 7

/** Sources and copies as a picture; the table below it has the same in words. */
export function SpreadPicture({ copies, summary }: { copies: ArtifactCopies; summary: string }) {
  const picture = pictureOf(copies, strings.backend)
  const { width, height, place } = picture
  return (
    <figure className={styles.figure}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={strings.pictureOf(summary)}
        className={styles.picture}
      >
        {picture.zones.map(({ name, x }) => (
          <text key={name} x={x} y={52} textAnchor="middle" className={styles.zone}>
            {name}
          </text>
        ))}
        {picture.lines.map((line) => (
          <path
            key={`${line.from.id} ${line.to.id}`}
            d={pathOf(line, place)}
            data-origin={line.origin}
            className={styles.line}
            strokeWidth={1 + (WIDEST - 1) * line.weight}
          />
        ))}
        {picture.places.map(({ id, name, share, x, y }) => (
          <g key={id} transform={`translate(${x} ${y})`}>
            <title>{name}</title>
            <rect width={place} height={PLACE_HEIGHT} rx={4} className={styles.place} />
            <rect width={place * share} height={PLACE_HEIGHT} rx={4} className={styles.held} />
            <text x={place / 2} y={17} textAnchor="middle" className={styles.name}>
              {shortened(name, place)}
            </text>
          </g>
        ))}
      </svg>
      <figcaption>
        <ul className={styles.key}>
          {ORIGINS.map(([origin, name]) => (
            <li key={origin}>
              <span className={styles.swatch} data-origin={origin} />
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  )
}

const LETTER = 7.5

/** Return the name, or its begin and its end where it is too long for its place: names differ at their ends. */
function shortened(name: string, place: number): string {
  const most = Math.max(3, Math.floor((place - 8) / LETTER))
  if (name.length <= most) return name
  const end = Math.ceil((most - 1) / 2)
  return `${name.slice(0, most - 1 - end)}…${name.slice(-end)}`
}
