import { ActionIcon, Tooltip, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useEdits } from '~/api/access'
import { deviationQuery } from '~/api/measurements'
import { rosterQuery } from '~/api/meshes'
import type { Mesh, Path } from '~/api/types'
import { SwapIcon } from '~/ui/icons'
import { ButtonLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { suggestedLimit } from './limit'
import styles from './paths.module.css'
import { strings } from './strings'
import { zonePairOf } from './zones'

interface Props {
  mesh: Mesh
  path: Pick<Path, 'source' | 'target'>
  /** Choices of the content of the page. */
  controls: ReactNode
}

/** The head of the page of a path: its name, links to its VMs and zone pair, and an alert for it. */
export function PathHead({ mesh, path: { source, target }, controls }: Props) {
  return (
    <header className={styles.head}>
      <div>
        <p className={styles.trail}>
          <Link to="/meshes/$meshId" params={{ meshId: mesh.id }}>
            {mesh.name}
          </Link>
          <ZonePair meshId={mesh.id} source={source} target={target} />
          {[source, target].map((vm) => (
            <Link key={vm.id} to="/vms/$vmId" params={{ vmId: vm.id }}>
              {strings.vmNamed(vm.name)}
            </Link>
          ))}
        </p>
        <div className={styles.title}>
          <h1>
            {source.name} <span aria-hidden="true">→</span>
            <VisuallyHidden> {strings.toLower} </VisuallyHidden> {target.name}
          </h1>
          <Tooltip label={strings.showFrom(target.name)}>
            <ActionIcon
              variant="default"
              aria-label={strings.swapDirection}
              renderRoot={(root) => (
                <Link
                  {...root}
                  to="/meshes/$meshId/paths/$source/$target"
                  params={{ meshId: mesh.id, source: target.id, target: source.id }}
                  search={(old) => old}
                />
              )}
            >
              <SwapIcon />
            </ActionIcon>
          </Tooltip>
        </div>
      </div>
      <div className={styles.controls}>
        {controls}
        <CreateAlert meshId={mesh.id} source={source} target={target} />
      </div>
    </header>
  )
}

interface Ends {
  meshId: string
  source: Path['source']
  target: Path['target']
}

/** The zones of a path, as a link to all paths between them. */
function ZonePair({ meshId, source, target }: Ends) {
  const { data: roster } = useQuery(rosterQuery(meshId))
  const pair = roster && zonePairOf(roster, source.id, target.id)
  const name =
    source.zone_name === target.zone_name
      ? strings.withinZone(source.zone_name)
      : strings.zoneToZone(source.zone_name, target.zone_name)
  if (!pair) return <span>{name}</span>
  const [from, to] = pair
  return (
    <Link
      className={pageStyles.target}
      to="/meshes/$meshId"
      params={{ meshId }}
      search={{ zones: `${from.id},${to.id}` }}
    >
      {strings.samePair(name, from.count, to.count)}
    </Link>
  )
}

/** A rule about the path, with a limit that follows from its usual delay. */
function CreateAlert({ meshId, source, target }: Ends) {
  const edits = useEdits()
  const deviation = useQuery(deviationQuery(meshId, 'vm', source.id, target.id))
  const above = suggestedLimit(deviation.data)
  if (!edits) return null
  return (
    <ButtonLink
      aria-keyshortcuts="a"
      to="/alert-rules/new"
      search={{ mesh: meshId, source: source.name, target: target.name, ...(above === undefined ? {} : { above }) }}
    >
      {strings.createAlert}
    </ButtonLink>
  )
}
