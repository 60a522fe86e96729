import type { ReactNode } from 'react'
import type { Mesh, Roster } from '~/api/types'
import { useClock } from '~/ui/clock'
import styles from './matrix.module.css'
import { strings } from './strings'
import { WindowStamp } from './WindowStamp'

interface Props {
  mesh: Mesh
  roster: Roster | undefined
  /** The end of the newest window; undefined when a range is shown. */
  windowEnd: Date | null | undefined
  /** Next to the size of the mesh. */
  choice?: ReactNode
  /** Shown instead of the age of a window when a range is shown. */
  children?: ReactNode
}

/** The name and the size of the mesh, and the age of what is shown. */
export function Head({ mesh, roster, windowEnd, choice, children }: Props) {
  const clock = useClock()
  const vms = roster?.vms.length ?? 0
  const zones = roster?.zones.length ?? 0
  return (
    <header className={styles.head}>
      <div>
        <h1>{mesh.name}</h1>
        {roster && (
          <p>
            {strings.meshSummary(
              vms,
              vms === 1 ? strings.vm : strings.vms,
              zones,
              zones === 1 ? strings.zoneNoun : strings.zonesLower,
              mesh.rate_hz,
              mesh.rate_hz === 1 ? strings.exchange : strings.exchanges,
            )}
          </p>
        )}
        {choice}
      </div>
      {windowEnd === undefined ? children : <WindowStamp end={windowEnd} windowS={mesh.window_s} clock={clock} />}
    </header>
  )
}
