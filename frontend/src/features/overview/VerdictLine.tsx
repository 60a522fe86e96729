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
import { TextLink } from '~/ui/links'
import { useNow } from '~/ui/useNow'
import { PathsLink } from './links'
import styles from './overview.module.css'
import { strings } from './strings'
import { isUntold, minutesToBaselines, toneOf, type Verdict, verdictOf } from './verdict'

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
          {costSentence(incident)}{' '}
          {isUntold(incident, now) && (
            <>
              <strong>{strings.toldNobody}</strong>{' '}
            </>
          )}
          {others > 0 && strings.otherIncidents(others)}{' '}
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
          {strings.waitingNext(agents.reporting, agents.reporting + agents.silent + agents.stopped + agents.enrolled)}
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
    if (isUntold(incident, now)) {
      steps.push(
        <TextLink key="receivers" size="sm" to="/receivers">
          {strings.addReceiver}
        </TextLink>,
      )
    }
    steps.push(
      <TextLink key="incident" size="sm" to="/incidents/$incidentId" params={{ incidentId: incident.id }}>
        {strings.openIncident}
      </TextLink>,
      <PathsLink key="paths" mesh={mesh} incident={incident}>
        {strings.seePaths}
      </PathsLink>,
    )
  } else if (['waiting', 'noPaths', 'noVms'].includes(verdict.kind)) {
    steps.push(
      <TextLink key="add" size="sm" to="/onboarding" search={{ mesh: mesh.id }}>
        {strings.addVm}
      </TextLink>,
    )
  } else if (verdict.kind === 'noRules' || verdict.kind === 'unevaluated') {
    steps.push(
      <TextLink key="rules" size="sm" to="/alert-rules" search={{ mesh: mesh.id }}>
        {strings.seeRules}
      </TextLink>,
    )
  } else if (mesh.agents.silent > 0) {
    steps.push(
      <TextLink key="vms" size="sm" to="/vms">
        {strings.seeVms}
      </TextLink>,
    )
  }
  if (verdict.kind !== 'degraded' && mesh.vms > 0) {
    steps.push(
      <TextLink key="heatmap" size="sm" to="/meshes/$meshId" params={{ meshId: mesh.id }} search={NOW}>
        {strings.openHeatmap}
      </TextLink>,
    )
  }
  if (unusual) {
    const { source, target, deviation_ns } = unusual
    steps.push(
      <TextLink
        key="unusual"
        size="sm"
        aria-keyshortcuts="u"
        to="/meshes/$meshId/paths/$source/$target"
        params={{ meshId: mesh.id, source: source.id, target: target.id }}
      >
        {strings.mostUnusual(
          source.name,
          target.name,
          formatSignedDelay(deviation_ns),
          sinceWords(unusual, clock, now),
        )}
      </TextLink>,
    )
  }
  if (proposed) {
    const gain = proposed.total === null ? '' : strings.gainOf(formatChange(proposed.total.gain.mean))
    steps.push(
      <TextLink
        key="moves"
        size="sm"
        to="/meshes/$meshId"
        params={{ meshId: mesh.id }}
        search={{ ...NOW, moves: proposed.id }}
      >
        {strings.seeMoves(proposed.moves, gain)}
      </TextLink>,
    )
  }
  return steps.length > 0 && <div className={styles.steps}>{steps}</div>
}
