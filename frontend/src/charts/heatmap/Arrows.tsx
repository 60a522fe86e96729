import { useEffect, useId, useMemo } from 'react'
import { markTime } from '~/lib/userTiming'
import { type Arrow, frames, headOf, lanesOf, outlines, route } from './arrows'
import type { Cell } from './grid'
import styles from './heatmap.module.css'
import { lineRamp, type Theme } from './palette'
import type { View } from './view'

/** Arrows from place to place over a grid, and cells that are outlined with them. */
export interface Overlay {
  arrows: readonly Arrow[]
  cells: readonly Cell[]
  /** The key of the arrow that stands out. */
  pointed: string | null
  onPoint: (key: string | null) => void
  /** An arrow was pressed. */
  onChoose: (key: string) => void
}

interface Props {
  of: Overlay
  view: View
  cell: number
  width: number
  height: number
  theme: Theme
}

/** More of them would hide the picture. */
const BADGES_MOST = 40
const BADGE = { radius: 8, character: 3.2 }

/** Arrows over the picture. The rows and columns of the one that stands out are framed. */
export function Arrows({ of, view, cell, width, height, theme }: Props) {
  const { arrows, cells, pointed } = of
  const id = useId()
  const colour = useMemo(() => {
    const ramp = lineRamp(theme)
    return (share: number | null) => (share === null ? 'var(--ink-3)' : `rgb(${ramp(share).join(', ')})`)
  }, [theme])
  const lanes = useMemo(() => lanesOf(arrows), [arrows])
  const drawn = arrows.flatMap((arrow, n) => {
    const way = route(arrow, lanes[n] ?? { row: 0, column: 0 }, view, cell, { width, height })
    const isPointed = pointed !== null && arrow.keys.includes(pointed)
    return way ? [{ arrow, way, isPointed, name: `${id}${n}` }] : []
  })
  useEffect(() => {
    if (arrows.length > 0) markTime('arrows drawn')
  }, [arrows])
  return (
    <svg className={styles.arrows} width={width} height={height} data-overlay="" aria-hidden="true">
      <defs>
        {drawn.map(({ name, arrow, way: { start, tip } }) => (
          <linearGradient
            key={name}
            id={name}
            gradientUnits="userSpaceOnUse"
            x1={start.x}
            y1={start.y}
            x2={tip.x}
            y2={tip.y}
          >
            <stop offset="0.1" stopColor={colour(arrow.shares[0])} />
            <stop offset="0.9" stopColor={colour(arrow.shares[1])} />
          </linearGradient>
        ))}
      </defs>
      <path className={styles.halo} d={outlines(cells, view, cell)} />
      <path className={styles.outline} d={outlines(cells, view, cell)} />
      {drawn
        .filter(({ isPointed }) => isPointed)
        .map(({ name, arrow: { from, to } }) => (
          <g key={name}>
            {from && <path className={styles.left} d={frames(from, view, cell, { width, height })} />}
            <path className={styles.reached} d={frames(to, view, cell, { width, height })} />
          </g>
        ))}
      {drawn.map(({ name, arrow, way, isPointed }) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: for the pointer; the keyboard has the list of the arrows
        <g
          key={name}
          className={styles.arrow}
          data-pointed={isPointed || undefined}
          data-dimmed={(pointed !== null && !isPointed) || undefined}
          data-made={arrow.isMade || undefined}
          onPointerEnter={() => of.onPoint(arrow.keys[0] ?? null)}
          onPointerLeave={() => of.onPoint(null)}
          onClick={(event) => {
            event.stopPropagation()
            if (arrow.keys[0]) of.onChoose(arrow.keys[0])
          }}
        >
          <path className={styles.casing} d={way.line + headOf(way)} />
          <path className={styles.line} d={way.line} stroke={`url(#${name})`} />
          <path d={headOf(way)} fill={colour(arrow.shares[1])} />
        </g>
      ))}
      {/* Above all lines: they are what the list is read by. */}
      {arrows.length <= BADGES_MOST &&
        drawn.map(({ name, arrow, way, isPointed }) => (
          <g key={name} className={styles.badge} data-dimmed={(pointed !== null && !isPointed) || undefined}>
            <rect
              {...box(way.badge.x, way.badge.y, arrow.label.length)}
              rx={BADGE.radius}
              fill={colour(arrow.shares[0])}
            />
            <text x={way.badge.x} y={way.badge.y + 3.5}>
              {arrow.label}
            </text>
          </g>
        ))}
    </svg>
  )
}

/** Return the box of a badge around its text. */
function box(x: number, y: number, characters: number) {
  const half = BADGE.radius + (characters - 1) * BADGE.character
  return { x: x - half, y: y - BADGE.radius, width: 2 * half, height: 2 * BADGE.radius }
}
