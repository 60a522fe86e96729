import { Component, type RefObject } from 'react'
import styles from './heatmap.module.css'
import { isSameSpace, type Placed, type Space, sameRectangles, transformOf } from './transition'

interface Props {
  canvas: RefObject<HTMLCanvasElement | null>
  /** The places of the rows and columns. */
  space: Space | undefined
  /** Of the picture that is drawn now; null while it cannot be placed. */
  placed: Placed | null
}

const DURATION_MS = 220

const isStill = () => window.matchMedia('(prefers-reduced-motion: reduce)').matches

/**
 * The previous picture, which moves to its place in the next one while that fades in. A class component: only it can read
 * the canvas before React resizes, and so clears, it.
 */
export class Transition extends Component<Props> {
  private ghost: HTMLCanvasElement | null = null

  override getSnapshotBeforeUpdate(previous: Props): boolean {
    const drawn = this.props.canvas.current
    if (isSameSpace(previous.space, this.props.space) || !drawn || !this.ghost) return false
    if (typeof drawn.animate !== 'function' || isStill()) return false
    const { width, height } = drawn
    if (width === 0 || height === 0) return false
    Object.assign(this.ghost, { width, height })
    Object.assign(this.ghost.style, { width: drawn.style.width, height: drawn.style.height })
    this.ghost.getContext('2d')?.drawImage(drawn, 0, 0)
    return true
  }

  override componentDidUpdate(previous: Props, _: unknown, isTaken: boolean) {
    const [drawn, ghost] = [this.props.canvas.current, this.ghost]
    if (!isTaken || !drawn || !ghost) return
    const { placed } = this.props
    const [from, to] = (previous.placed && placed && sameRectangles(previous.placed, placed)) || []
    const timing = { duration: DURATION_MS, easing: 'ease-out' }
    ghost.animate(
      [{ opacity: 1 }, { opacity: 0, ...(from && to && { transform: transformOf(from, to) }) }],
      timing,
    ).onfinish = () => Object.assign(ghost, { width: 0, height: 0 })
    if (from && to) drawn.animate([{ transform: transformOf(to, from) }, { transform: 'none' }], timing)
  }

  override render() {
    return (
      <canvas
        ref={(element) => {
          this.ghost = element
        }}
        className={styles.ghost}
        width={0}
        height={0}
      />
    )
  }
}
