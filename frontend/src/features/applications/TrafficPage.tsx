import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useEdits } from '~/api/access'
import { trafficQuery, useDismissProposal } from '~/api/applications'
import { EditorsOnly } from '~/api/EditorsOnly'
import { matrixQuery, shownOf } from '~/api/measurements'
import { meshesQuery } from '~/api/meshes'
import type { TrafficProposal, TrafficProposals } from '~/api/types'
import { diverging, type Theme } from '~/charts/heatmap/palette'
import { changePositions } from '~/charts/heatmap/scale'
import { Network } from '~/charts/network/Network'
import { valueOfCode } from '~/lib/codes'
import { facts } from '~/lib/metrics'
import { named } from '~/lib/options'
import { formatShare } from '~/lib/performance'
import { formatCount, formatSignedDelay } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { ButtonLink, TextLink, WordLink } from '~/ui/links'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { RecordList } from '~/ui/RecordList'
import { Empty, Notice } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import styles from './traffic.module.css'
import { strings } from './trafficStrings'

/** Applications that traffic suggests, with the map of who talks to whom. */
export function TrafficPage({ mesh, onMesh }: { mesh: string | undefined; onMesh: (mesh: string) => void }) {
  const meshes = useQuery(meshesQuery)
  const meshId = mesh ?? meshes.data?.[0]?.id ?? ''
  const traffic = useQuery(trafficQuery(meshId))
  if (!meshes.data)
    return (
      <Unloaded query={meshes} title={strings.foundInTraffic} what={strings.lower} failed={strings.foundInTraffic} />
    )
  if (meshes.data.length === 0) {
    return (
      <Empty title={strings.noMesh} action={<ButtonLink to="/onboarding">{strings.newMesh}</ButtonLink>}>
        {strings.noMeshLead}
      </Empty>
    )
  }
  return (
    <Page title={strings.foundInTraffic} lead={strings.lead}>
      {meshes.data.length > 1 && (
        <Choice label={strings.mesh} value={meshId} onChange={onMesh} data={named(meshes.data)} w={260} />
      )}
      <QueryResult query={traffic} what={strings.lower}>
        {(found) => <Found meshId={meshId} found={found} />}
      </QueryResult>
    </Page>
  )
}

function Found({ meshId, found }: { meshId: string; found: TrafficProposals }) {
  const { counted, items, vms, vms_counted } = found
  return (
    <div className={styles.found}>
      {!counted && (
        <Notice tone="info">
          {strings.notCounted} <WordLink to="/tenant">{strings.tenant}</WordLink>, {strings.notCountedEnd}
        </Notice>
      )}
      {counted && items.length === 0 && (
        <Notice tone="info">{strings.nothing(formatCount(vms_counted), formatCount(vms))}</Notice>
      )}
      {items.length > 0 && <Proposals meshId={meshId} items={items} />}
      {items.some(isShown) && <Maps meshId={meshId} items={items.filter(isShown).slice(0, MAPS_MAX)} />}
      <Unseen found={found} />
    </div>
  )
}

/** The map of more would be longer than anyone looks at. */
const MAPS_MAX = 12

const isShown = ({ state }: TrafficProposal) => state === 'open' || state === 'accepted'

/** The traffic that counted connections do not explain. */
function Unseen({ found: { elsewhere, elsewhere_vms, connections_left_out } }: { found: TrafficProposals }) {
  const most = elsewhere_vms.filter(({ share }) => share > 0).slice(0, 3)
  return (
    <>
      {elsewhere !== null && elsewhere > 0 && (
        <p className={pageStyles.lead}>
          {strings.elsewhere(formatShare(elsewhere))}{' '}
          {strings.mostElsewhere(most.map(({ vm, share }) => strings.ofVm(vm.name, formatShare(share))).join(', '))}
        </p>
      )}
      {connections_left_out > 0 && (
        <p className={pageStyles.lead}>{strings.leftOut(formatCount(connections_left_out))}</p>
      )}
    </>
  )
}

function Proposals({ meshId, items }: { meshId: string; items: TrafficProposal[] }) {
  const navigate = useNavigate()
  const dismiss = useDismissProposal(meshId)
  const edits = useEdits()
  const search = (keys: string[]) => ({ mesh: meshId, proposals: keys.join(',') })
  return (
    <RecordList
      label={strings.foundInTraffic}
      rows={items}
      id={({ key }) => key}
      bulk={
        edits && {
          nouns: ['proposal', strings.proposals],
          name: ({ name }) => name,
          actions: [
            {
              label: strings.add,
              applies: ({ state }) => state !== 'accepted',
              run: (rows) => {
                void navigate({ to: '/applications/new', search: search(rows.map(({ key }) => key)) })
                return Promise.resolve(rows.map(() => null))
              },
            },
            {
              label: strings.dismiss,
              applies: ({ state }) => state === 'open' || state === 'everywhere',
              run: (rows, watch) =>
                dismiss.each(
                  rows.map(({ key }) => ({ key, dismissed: true })),
                  watch,
                ),
            },
            {
              label: strings.restore,
              applies: ({ state }) => state === 'dismissed',
              run: (rows, watch) =>
                dismiss.each(
                  rows.map(({ key }) => ({ key, dismissed: false })),
                  watch,
                ),
            },
          ],
        }
      }
      columns={[
        { title: strings.proposal, as: 'head', by: { key: 'name', value: ({ name }) => name } },
        { title: strings.port, as: 'number', by: { key: 'port', value: ({ port }) => port } },
        { title: strings.servers, as: 'number', by: { key: 'servers', value: ({ servers }) => servers.length } },
        { title: strings.clients, as: 'number', by: { key: 'clients', value: ({ clients }) => clients.length } },
        {
          title: strings.share,
          cell: ({ share }) => formatShare(share),
          as: 'number',
          by: { key: 'share', value: ({ share }) => share },
        },
        {
          title: strings.seen,
          cell: ({ stability }) => formatShare(stability),
          as: 'number',
          by: { key: 'seen', value: ({ stability }) => stability },
        },
        {
          title: strings.state,
          cell: ({ state }) => strings.states[state],
          as: 'wrap',
          by: { key: 'state', value: ({ state }) => strings.states[state], filter: true },
        },
        {
          title: strings.application,
          cell: ({ key, state, application }) =>
            application ? (
              <TextLink to="/applications/$applicationId" params={{ applicationId: application.id }}>
                {application.name}
              </TextLink>
            ) : (
              state === 'open' && (
                <EditorsOnly>
                  <TextLink to="/applications/new" search={search([key])}>
                    {strings.addOne}
                  </TextLink>
                </EditorsOnly>
              )
            ),
        },
      ]}
    />
  )
}

/** The change of delay between two VMs, of the direction that got slower by more; null where neither is known. */
type ChangeOf = (one: string, other: string) => number | null

function useChanges(meshId: string): ChangeOf {
  const { data } = useQuery(matrixQuery(meshId, shownOf({})))
  return useMemo(() => {
    const place = new Map(data?.roster.vms.map(({ id }, at) => [id, at]))
    return (one, other) => {
      const [a, b] = [place.get(one), place.get(other)]
      if (!data || a === undefined || b === undefined) return null
      const { codes, columns } = data.matrix
      const known = [a * columns + b, b * columns + a].flatMap((cell) => {
        const value = valueOfCode('deviation', codes[cell] ?? 0)
        return value === null ? [] : [value]
      })
      return known.toSorted((x, y) => Math.abs(y) - Math.abs(x))[0] ?? null
    }
  }, [data])
}

/** Lines are thinner than cells: the least change is a step further from the middle. */
const colourOf = (theme: Theme, position: number) => {
  const far = 2 * position - 1
  return `rgb(${diverging(theme)(0.5 + Math.sign(far) * (0.22 + 0.28 * Math.abs(far))).join(' ')})`
}

function Maps({ meshId, items }: { meshId: string; items: TrafficProposal[] }) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const changeOf = useChanges(meshId)
  const changes = items.flatMap(({ links }) =>
    links.map(({ client_vm_id, server_vm_id }) => changeOf(client_vm_id, server_vm_id)),
  )
  const position = changePositions(changes, facts('deviation').least)
  const keys = [
    { label: strings.slowerThanUsual, colour: colourOf(theme, 0.9) },
    { label: strings.fasterThanUsual, colour: colourOf(theme, 0.1) },
    { label: strings.usual, colour: 'var(--line-strong)' },
  ]
  return (
    <Panel title={strings.map}>
      <p className={pageStyles.lead}>{strings.mapLead}</p>
      <ul className={styles.key}>
        {keys.map(({ label, colour }) => (
          <li key={label}>
            <i style={{ background: colour }} /> {label}
          </li>
        ))}
        <li>
          <i data-unknown /> {strings.unknown}
        </li>
      </ul>
      <div className={styles.maps}>
        {items.map((item) => (
          <MapOf key={item.key} item={item} theme={theme} changeOf={changeOf} position={position} />
        ))}
      </div>
    </Panel>
  )
}

interface MapProps {
  item: TrafficProposal
  theme: Theme
  changeOf: ChangeOf
  position: (changeNs: number) => number
}

function MapOf({ item: { name, servers, clients, links }, theme, changeOf, position }: MapProps) {
  const nameOf = new Map([...servers, ...clients].map((vm) => [vm.id, vm.name]))
  const most = Math.max(...links.map(({ share }) => share))
  const drawn = links.map(({ client_vm_id: source, server_vm_id: target, share }) => {
    const change = changeOf(source, target)
    const words = change === null ? strings.noChange : change === 0 ? strings.asUsual : null
    return {
      source,
      target,
      weight: share / most,
      colour: change ? colourOf(theme, position(change)) : 'var(--line-strong)',
      isUnknown: change === null,
      isChanged: Boolean(change),
      title: strings.link(
        nameOf.get(source) ?? '',
        nameOf.get(target) ?? '',
        formatShare(share),
        words ?? strings.change(formatSignedDelay(change)),
      ),
    }
  })
  return (
    <figure>
      <figcaption>{name}</figcaption>
      <Network
        label={strings.mapOf(name, links.length, drawn.filter(({ isChanged }) => isChanged).length)}
        nodes={[
          ...servers.map(({ id, name }) => ({ id, name, isInner: true })),
          ...clients.map(({ id, name }) => ({ id, name, isInner: false })),
        ]}
        links={drawn}
      />
    </figure>
  )
}
