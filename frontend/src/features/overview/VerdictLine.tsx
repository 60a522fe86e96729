import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { serverNow } from '~/api/connection'
import type { MeshHealth } from '~/api/overview'
import type { UnusualPath } from '~/api/types'
import { costSentence } from '~/lib/costs'
import { sinceWords } from '~/lib/onset'
import { formatChange } from '~/lib/performance'
import { recurrenceSentence } from '~/lib/recurrence'
import { NOW } from '~/lib/spans'
import { formatAge, formatShortMoment } from '~/lib/time'
import { formatCount, formatSignedDelay } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { useNow } from '~/ui/useNow'
import { PathsLink } from './links'
import styles from './overview.module.css'
import { strings } from './strings'
import { minutesToBaselines, toneOf, type Verdict, verdictOf } from './verdict'

interface Props {
  mesh: MeshHealth
  /** The path that differs most from its usual delay, where one does. */
  unusual?: UnusualPath | undefined
}

// Ages of an onset change by the minute.
const NOW_MS = 10_000

/** The state of a mesh in one sentence, and the next steps. */
export function VerdictLine({ mesh, unusual }: Props) {
  const verdict = verdictOf(mesh)
  return (
    <div className={styles.verdict} data-tone={toneOf(verdict)}>
      <p>
        <Sentence mesh={mesh} verdict={verdict} />
      </p>
      <NextSteps mesh={mesh} verdict={verdict} unusual={unusual} />
    </div>
  )
}

function Sentence({ mesh, verdict }: { mesh: MeshHealth; verdict: Verdict }) {
  const clock = useClock()
  const now = useNow(1_000, serverNow)
  const moment = (at: string) => formatShortMoment(at, clock, now)
  const age = (at: string) => formatAge(now - Date.parse(at))
  const { planned, measured } = mesh.paths
  const { agents, last_incident_ended_at: ended } = mesh
  switch (verdict.kind) {
    case 'degraded': {
      const { incident, others } = verdict
      return (
        <>
          <strong>{strings.degraded}</strong> {strings.sinceAgo(moment(incident.onset_at), age(incident.onset_at))}:{' '}
          <Link to="/incidents/$incidentId" params={{ incidentId: incident.id }}>
            {incident.title}
          </Link>
          . {recurrenceSentence(incident.recurrence, incident.seen_at)}
          {costSentence(incident)} {others > 0 && strings.otherIncidents(others)}{' '}
          {measured < planned && strings.partly(formatCount(measured), formatCount(planned))}
        </>
      )
    }
    case 'blind':
      return (
        <>
          <strong>{strings.blind(formatCount(planned), moment(verdict.since))}</strong>{' '}
          {agents.silent > 0 && strings.silentReason(agents.silent)}
        </>
      )
    case 'partial':
      return (
        <>
          <strong>{strings.partly(formatCount(measured), formatCount(planned))}</strong> <Reasons mesh={mesh} />{' '}
          {strings.noOpenIncidents}
        </>
      )
    case 'noRules':
      return <strong>{strings.noRules(formatCount(measured))}</strong>
    case 'unevaluated':
      return (
        <strong>
          {verdict.since === null ? strings.notEvaluated : strings.notEvaluatedSince(moment(verdict.since))}
        </strong>
      )
    case 'waiting':
      return (
        <>
          <strong>{strings.waiting}</strong>{' '}
          {strings.waitingNext(agents.reporting, agents.reporting + agents.silent + agents.enrolled)}
        </>
      )
    case 'learning':
      return (
        <>
          <strong>{strings.learning(verdict.minutes, verdict.of)}</strong>{' '}
          {strings.learningMeasured(formatCount(measured), formatCount(planned))} {strings.learningNext}
        </>
      )
    case 'noPaths':
      return (
        <>
          <strong>{strings.noPaths}</strong> {strings.noPathsNext}
        </>
      )
    case 'noVms':
      return (
        <>
          <strong>{strings.noVms(mesh.name)}</strong> {strings.noVmsNext}
        </>
      )
    case 'healthy':
      return (
        <>
          <strong>{strings.healthy(formatCount(planned), mesh.name)}</strong>{' '}
          {ended && strings.lastEnded(moment(ended), age(ended))} <StillLearning mesh={mesh} />
        </>
      )
  }
}

/** What alert rules cannot detect yet: of young paths nothing, of paths without a usual value a changed delay. */
function StillLearning({ mesh }: { mesh: MeshHealth }) {
  const { settling_paths, settling_s } = mesh.learning
  const minutes = minutesToBaselines(mesh)
  return (
    <>
      {settling_paths > 0 && strings.newPaths(settling_paths, Math.ceil(settling_s / 60))}{' '}
      {minutes !== null && strings.baselinesIn(minutes)}
    </>
  )
}

/** The reasons why some paths are not measured. */
function Reasons({ mesh: { paths, agents } }: { mesh: MeshHealth }) {
  const reasons = [
    paths.lost > 0 && strings.lostReason(formatCount(paths.lost)),
    paths.stale > 0 && strings.staleReason(formatCount(paths.stale)),
    paths.no_data > 0 && strings.noDataReason(formatCount(paths.no_data)),
    paths.no_service > 0 && strings.noServiceReason(formatCount(paths.no_service)),
  ].filter((reason) => reason !== false)
  return (
    <>
      {reasons.length > 0 && strings.reasons(reasons.join(', '))}{' '}
      {agents.silent > 0 && strings.silentReason(agents.silent)}
    </>
  )
}

function NextSteps({ mesh, verdict, unusual }: Props & { verdict: Verdict }) {
  const clock = useClock()
  const now = useNow(NOW_MS, serverNow)
  const { proposed } = mesh
  const steps: ReactNode[] = []
  if (verdict.kind === 'degraded') {
    const { incident } = verdict
    steps.push(
      <Anchor
        key="incident"
        size="sm"
        renderRoot={(root) => <Link {...root} to="/incidents/$incidentId" params={{ incidentId: incident.id }} />}
      >
        {strings.openIncident}
      </Anchor>,
      <PathsLink key="paths" mesh={mesh} incident={incident}>
        {strings.seePaths}
      </PathsLink>,
    )
  } else if (['waiting', 'noPaths', 'noVms'].includes(verdict.kind)) {
    steps.push(
      <Anchor key="add" size="sm" renderRoot={(root) => <Link {...root} to="/onboarding" search={{ mesh: mesh.id }} />}>
        {strings.addVm}
      </Anchor>,
    )
  } else if (verdict.kind === 'noRules' || verdict.kind === 'unevaluated') {
    steps.push(
      <Anchor
        key="rules"
        size="sm"
        renderRoot={(root) => <Link {...root} to="/alert-rules" search={{ mesh: mesh.id }} />}
      >
        {strings.seeRules}
      </Anchor>,
    )
  } else if (mesh.agents.silent > 0) {
    steps.push(
      <Anchor key="vms" size="sm" renderRoot={(root) => <Link {...root} to="/vms" />}>
        {strings.seeVms}
      </Anchor>,
    )
  }
  if (verdict.kind !== 'degraded' && mesh.vms > 0) {
    steps.push(
      <Anchor
        key="heatmap"
        size="sm"
        renderRoot={(root) => <Link {...root} to="/meshes/$meshId" params={{ meshId: mesh.id }} search={NOW} />}
      >
        {strings.openHeatmap}
      </Anchor>,
    )
  }
  if (unusual) {
    const { source, target, deviation_ns } = unusual
    steps.push(
      <Anchor
        key="unusual"
        size="sm"
        aria-keyshortcuts="u"
        renderRoot={(root) => (
          <Link
            {...root}
            to="/meshes/$meshId/paths/$source/$target"
            params={{ meshId: mesh.id, source: source.id, target: target.id }}
          />
        )}
      >
        {strings.mostUnusual(
          source.name,
          target.name,
          formatSignedDelay(deviation_ns),
          sinceWords(unusual, clock, now),
        )}
      </Anchor>,
    )
  }
  if (proposed) {
    const gain = proposed.total === null ? '' : strings.gainOf(formatChange(proposed.total.gain.mean))
    steps.push(
      <Anchor
        key="moves"
        size="sm"
        renderRoot={(root) => (
          <Link {...root} to="/recommendations/$recommendationId" params={{ recommendationId: proposed.id }} />
        )}
      >
        {strings.seeMoves(proposed.moves, gain)}
      </Anchor>,
    )
  }
  return steps.length > 0 && <div className={styles.steps}>{steps}</div>
}
