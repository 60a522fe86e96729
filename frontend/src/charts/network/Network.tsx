import { places } from './layout'
import styles from './network.module.css'

export interface NetworkNode {
  id: string
  name: string
  /** It stands in the middle. */
  isInner: boolean
}

export interface NetworkLink {
  source: string
  target: string
  /** 0 to 1: how wide its line is. */
  weight: number
  colour: string
  isUnknown: boolean
  title: string
}

interface Props {
  label: string
  nodes: readonly NetworkNode[]
  links: readonly NetworkLink[]
}

const SIZE = 320
const MARGIN = 52
/** Names of more nodes would cover one another; a title still has them. */
const NAMES_MAX = 16

/** A few nodes with their links, wide by weight. */
export function Network({ label, nodes, links }: Props) {
  const inner = nodes.filter(({ isInner }) => isInner)
  const ordered = [...inner, ...nodes.filter(({ isInner }) => !isInner)]
  const points = places(inner.length, ordered.length - inner.length, SIZE, MARGIN)
  const placed = ordered.map((node, at) => ({ ...node, point: points[at] ?? { x: 0, y: 0 } }))
  const pointOf = new Map(placed.map(({ id, point }) => [id, point]))
  return (
    <svg className={styles.network} viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={label}>
      {links.map(({ source, target, weight, colour, isUnknown, title }) => {
        const [from, to] = [pointOf.get(source), pointOf.get(target)]
        return (
          from &&
          to && (
            <line
              key={`${source} ${target}`}
              {...{ x1: from.x, y1: from.y, x2: to.x, y2: to.y }}
              stroke={colour}
              strokeWidth={1.5 + 6 * Math.sqrt(weight)}
              strokeDasharray={isUnknown ? '3 4' : undefined}
            >
              <title>{title}</title>
            </line>
          )
        )
      })}
      {placed.map(({ id, name, isInner, point }) => (
        <g key={id} transform={`translate(${point.x} ${point.y})`} className={isInner ? styles.inner : styles.outer}>
          <circle r={isInner ? 9 : 6}>
            <title>{name}</title>
          </circle>
          {(isInner ? inner.length <= NAMES_MAX : placed.length - inner.length <= NAMES_MAX) && (
            <text y={point.y > SIZE / 2 + 1 ? 21 : -13} textAnchor="middle">
              {name.length > 16 ? `${name.slice(0, 15)}…` : name}
            </text>
          )}
        </g>
      ))}
    </svg>
  )
}
