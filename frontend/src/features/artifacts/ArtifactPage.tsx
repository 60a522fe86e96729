import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEdits } from '~/api/access'
import { artifactCopiesQuery, useDeleteArtifact, useRequestCopies } from '~/api/artifacts'
import { serverNow } from '~/api/connection'
import { rosterQuery } from '~/api/meshes'
import type { Artifact, ArtifactCopies, ArtifactCopy } from '~/api/types'
import { formatBytes } from '~/lib/bytes'
import { formatMoment, timeOf } from '~/lib/time'
import { formatCount, NO_VALUE, threeDigits } from '~/lib/units'
import { CopyText } from '~/ui/CopyText'
import { useClock } from '~/ui/clock'
import { DeleteButton } from '~/ui/DeleteButton'
import { NoRows } from '~/ui/NoRows'
import { LoadingPage, Page, Panel, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { ActionError, Failed, Notice } from '~/ui/State'
import { type Status, StatusMark } from '~/ui/StatusMark'
import { VmToAdd } from '~/ui/VmToAdd'
import styles from './artifacts.module.css'
import { SpreadPicture } from './SpreadPicture'
import { segmentsOf, zonesOf } from './spread'
import { strings } from './strings'

const STATUS: Record<ArtifactCopy['state'], Status> = {
  waiting: 'waiting',
  fetching: 'waiting',
  complete: 'good',
  refused: 'warn',
}
const percent = (share: number) => `${Math.floor(share * 100)} %`

/** One artifact: which VM has what share of it, from whom, and when it will be complete. */
export function ArtifactPage({ artifactId }: { artifactId: string }) {
  const { data, error, refetch } = useQuery(artifactCopiesQuery(artifactId))
  if (error && !data) return <Failed what={strings.theArtifact} error={error} retry={() => void refetch()} />
  if (!data) return <LoadingPage title={strings.artifact} what={strings.theArtifact.toLowerCase()} />
  const { artifact } = data
  return (
    <Page
      title={`${artifact.name} ${artifact.release}`}
      lead={strings.summary(
        formatBytes(artifact.size_bytes),
        formatCount(artifact.block_count),
        strings.chunkings[artifact.chunking],
      )}
      action={<Delete artifact={artifact} />}
    >
      <Panel title={strings.spread}>
        {data.items.length === 0 ? <NoRows>{strings.noCopies}</NoRows> : <Spread copies={data} />}
        <RequestCopy copies={data} />
      </Panel>
      <About artifact={artifact} />
    </Page>
  )
}

function Spread({ copies }: { copies: ArtifactCopies }) {
  const arrived = copies.peer_bytes + copies.backend_bytes
  const summary = strings.spreadSummary(
    copies.artifact.complete,
    copies.artifact.copies,
    percent(arrived ? copies.peer_bytes / arrived : 0),
  )
  return (
    <>
      <p className={pageStyles.lead}>{summary}</p>
      <SpreadPicture copies={copies} summary={summary} />
      {copies.items
        .filter(({ corrupt_from }) => corrupt_from.length > 0)
        .map(({ vm_id, name, corrupt_from }) => (
          <Notice key={vm_id} tone="warn" title={name}>
            {strings.corruptFrom(corrupt_from.join(', '))}
          </Notice>
        ))}
      <Copies copies={copies} />
    </>
  )
}

function Copies({ copies }: { copies: ArtifactCopies }) {
  const clock = useClock()
  const zones = zonesOf(copies)
  const size = copies.artifact.size_bytes
  return (
    <RecordList
      label={strings.copies}
      rows={copies.items}
      id={({ vm_id }) => vm_id}
      columns={[
        { title: strings.vm, as: 'head', by: { key: 'name', value: ({ name }) => name } },
        { title: strings.zone, by: { key: 'zone', value: ({ zone }) => zone } },
        {
          title: strings.state,
          cell: (copy) => (
            <>
              <StatusMark status={copy.waits_for ? 'warn' : STATUS[copy.state]}>
                {strings.states[copy.state]}
              </StatusMark>{' '}
              {copy.waits_for ? strings.waits[copy.waits_for] : copy.note}
            </>
          ),
          as: 'wrap',
          by: { key: 'state', value: ({ state }) => state },
        },
        {
          title: strings.share,
          cell: (copy) => (
            <span className={styles.share}>
              <span className={styles.bar} aria-hidden="true">
                {segmentsOf(copy, size, zones).map(({ origin, share }) => (
                  <span key={origin} data-origin={origin} style={{ width: `${share * 100}%` }} />
                ))}
              </span>
              {percent(copy.share)}
            </span>
          ),
          by: { key: 'share', value: ({ share }) => share },
        },
        { title: strings.from, cell: fromOf, as: 'wrap' },
        {
          title: strings.rateHeader,
          cell: ({ rate_mbit }) => (rate_mbit === null ? NO_VALUE : `${threeDigits(rate_mbit)} Mbit/s`),
          as: 'number',
          by: { key: 'rate', value: ({ rate_mbit }) => rate_mbit },
        },
        {
          title: strings.done,
          cell: ({ completed_at, done_at, seconds }) => {
            if (completed_at)
              return strings.took(formatMoment(new Date(completed_at), clock), threeDigits(seconds ?? 0))
            if (!done_at) return NO_VALUE
            return strings.inSeconds(formatCount(Math.max(1, Math.round((Date.parse(done_at) - serverNow()) / 1_000))))
          },
          as: 'quiet',
          by: { key: 'done', value: ({ done_at }) => timeOf(done_at) },
        },
      ]}
    />
  )
}

function fromOf({ sources }: ArtifactCopy): string {
  const total = sources.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  return sources.map(({ name, size_bytes }) => `${name} ${percent(size_bytes / total)}`).join(', ') || strings.nobody
}

function RequestCopy({ copies }: { copies: ArtifactCopies }) {
  const edits = useEdits()
  const { data: roster } = useQuery(rosterQuery(copies.artifact.mesh_id))
  const request = useRequestCopies(copies.artifact.id)
  const had = new Set(copies.items.map(({ vm_id }) => vm_id))
  const others = roster?.vms
    .filter(({ id }) => !had.has(id))
    .map(({ id, name, zone_name }) => ({ id, name, zone: zone_name }))
  if (!edits) return null
  return (
    <>
      <VmToAdd
        label={strings.requestCopy}
        vms={others}
        none={strings.everyVmHasOne}
        onAdd={(vmId) => request.mutate([vmId])}
      />
      <ActionError error={request.error} />
    </>
  )
}

function About({ artifact }: { artifact: Artifact }) {
  const clock = useClock()
  return (
    <Panel title={strings.about}>
      <dl className={pageStyles.facts}>
        <dt>{strings.published}</dt>
        <dd>{formatMoment(new Date(artifact.created_at), clock)}</dd>
        <dt>{strings.publishedBy}</dt>
        <dd>{artifact.published_by}</dd>
        <dt>{strings.vms}</dt>
        <dd>{artifact.everywhere ? strings.everywhere : strings.someVms}</dd>
      </dl>
      <CopyText label={strings.rootHash} text={artifact.root} />
      <p className={pageStyles.lead}>{strings.readLead}</p>
      <CopyText
        label={strings.readCommand}
        text={`sinemora-agent read ${artifact.name} --release ${artifact.release}`}
      />
    </Panel>
  )
}

function Delete({ artifact }: { artifact: Artifact }) {
  const edits = useEdits()
  const navigate = useNavigate()
  const remove = useDeleteArtifact()
  if (!edits) return null
  return (
    <DeleteButton
      name={`${artifact.name} ${artifact.release}`}
      id={artifact.id}
      doing={remove}
      onDone={() => void navigate({ to: '/artifacts' })}
    >
      {strings.deleteEffect}
    </DeleteButton>
  )
}
