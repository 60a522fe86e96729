import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import { deviationsQuery } from '~/api/measurements'
import { type MeshHealth, zoneDeviationsQuery } from '~/api/overview'
import { NOW } from '~/lib/spans'
import { Loaded } from './Card'
import { DaysOfMesh } from './DaysOfMesh'
import styles from './overview.module.css'
import { strings } from './strings'
import { VerdictLine } from './VerdictLine'
import { Watch } from './Watch'
import { ZoneMap } from './ZoneMap'

interface Props {
  mesh: MeshHealth
  /** Compare the zone pairs although they are not open. */
  isCompared: boolean
  isExpanded: boolean
  /** Next to the zone pairs. */
  children?: ReactNode
}

// Like the zone map: the paths of a large mesh take a second to compare.
const REFRESH_MS = 60_000

// The height of the zone map, kept while it loads, px.
const mapHeight = (zones: number) => 110 + 30 * zones

/** A mesh: its state, its last days, and the zone pairs that changed. */
export function MeshSection({ mesh, isCompared, isExpanded, children }: Props) {
  const heading = useId()
  const [isOpen, setOpen] = useState(isExpanded)
  const hasPaths = mesh.paths.planned > 0
  const deviations = useQuery({ ...zoneDeviationsQuery(mesh.id), enabled: (isCompared || isOpen) && hasPaths })
  const paths = useQuery({
    ...deviationsQuery(mesh.id, 'vm', 1),
    enabled: isCompared && hasPaths,
    refetchInterval: REFRESH_MS,
  })
  return (
    <section className={styles.mesh} aria-labelledby={heading}>
      <h2 id={heading}>
        <Link to="/meshes/$meshId" params={{ meshId: mesh.id }} search={NOW}>
          {mesh.name}
        </Link>
      </h2>
      <VerdictLine mesh={mesh} unusual={paths.data?.items[0]} />
      {isExpanded && hasPaths && <DaysOfMesh mesh={mesh} />}
      {(hasPaths || children) && (
        <div className={styles.split}>
          {hasPaths && (
            <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
              <summary>{strings.zones}</summary>
              {isOpen && (
                <div className={styles.details} style={{ minHeight: mapHeight(mesh.zones.length) }}>
                  <Loaded what={strings.zonesLower} query={deviations}>
                    {(data) => <ZoneMap mesh={mesh} deviations={data} />}
                  </Loaded>
                </div>
              )}
            </details>
          )}
          {children}
        </div>
      )}
      {hasPaths && <Watch mesh={mesh} />}
    </section>
  )
}
