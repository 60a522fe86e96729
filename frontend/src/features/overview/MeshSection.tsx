import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { deviationsQuery } from '~/api/measurements'
import { type MeshHealth, zoneDeviationsQuery } from '~/api/overview'
import { NOW } from '~/lib/spans'
import { Loaded } from './Card'
import { HealthStrip } from './HealthStrip'
import { Numbers } from './Numbers'
import styles from './overview.module.css'
import { strings } from './strings'
import { VerdictLine } from './VerdictLine'
import { ZoneMap } from './ZoneMap'

interface Props {
  mesh: MeshHealth
  /** Compare the zone pairs although they are not open. */
  isCompared: boolean
  isExpanded: boolean
}

// Like the zone map: the paths of a large mesh take a second to compare.
const REFRESH_MS = 60_000

// The height of the zone map, kept while it loads, px.
const mapHeight = (zones: number) => 76 + 31 * zones

/** A mesh: its state, its last day, its numbers, and the zone pairs that changed. */
export function MeshSection({ mesh, isCompared, isExpanded }: Props) {
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
    <section className={styles.card} aria-labelledby={heading}>
      <h2 id={heading}>
        <Link to="/meshes/$meshId" params={{ meshId: mesh.id }} search={NOW}>
          {mesh.name}
        </Link>
      </h2>
      <VerdictLine mesh={mesh} unusual={paths.data?.items[0]} />
      {hasPaths && (
        <>
          <HealthStrip mesh={mesh} />
          <Numbers mesh={mesh} deviations={deviations} />
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
        </>
      )}
    </section>
  )
}
