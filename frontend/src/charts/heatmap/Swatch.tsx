import { useEffect, useRef } from 'react'
import styles from './bar.module.css'
import { isColoured } from './grid'
import type { Hatch } from './hatch'
import type { Rgb, Theme } from './palette'
import { hatchPattern } from './picture'

const WIDTH = 26
const HEIGHT = 16

/** A sample of a hatch; a look with a colour is shown over `under`, one that stands for any value. */
export function Swatch({ hatch, theme, under }: { hatch: Hatch; theme: Theme; under: Rgb }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const density = typeof window === 'undefined' ? 1 : window.devicePixelRatio || 1
  const [red, green, blue] = under
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    context.clearRect(0, 0, WIDTH * density, HEIGHT * density)
    if (isColoured(hatch)) {
      context.fillStyle = `rgb(${red} ${green} ${blue})`
      context.fillRect(0, 0, WIDTH * density, HEIGHT * density)
    }
    context.fillStyle = hatchPattern(context, hatch, density, theme) ?? 'transparent'
    context.fillRect(0, 0, WIDTH * density, HEIGHT * density)
  }, [hatch, theme, density, red, green, blue])
  return (
    <span className={styles.swatch} aria-hidden="true">
      <canvas
        ref={canvas}
        width={Math.round(WIDTH * density)}
        height={Math.round(HEIGHT * density)}
        style={{ display: 'block', width: WIDTH, height: HEIGHT }}
      />
    </span>
  )
}
