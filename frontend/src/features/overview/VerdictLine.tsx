import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { serverNow } from '~/api/connection'
import type { MeshHealth } from '~/api/overview'
import type { UnusualPath } from '~/api/types'
import { formatChange, formatShare } from '~/lib/performance'
import { recurrenceSentence } from '~/lib/recurrence'
import { NOW } from '~/lib/spans'
import { formatAge, formatShortMoment } from '~/lib/time'
import { formatCount, formatSignedDelay } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { useNow } from '~/ui/useNow'
import { changeWords, costLine } from './costLine'
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
  if (verdict.kind !== 'degraded') {
    const [state, ...more] = sentences(mesh, verdict, moment, age)
    return (
      <>
        <strong>{state}</strong> {more.filter(Boolean).join(' ')}
      </>
    )
  }
  const { incident, others } = verdict
  const { planned, measured } = mesh.paths
  return (
    <>
      <strong>{strings.degraded}</strong> {strings.sinceAgo(moment(incident.onset_at), age(incident.onset_at))}:{' '}
      <Link to="/incidents/$incidentId" params={{ incidentId: incident.id }}>
        {incident.title}
        {changeWords(incident)}
      </Link>
      . {recurrenceSentence(incident.recurrence, incident.seen_at)}
      <strong>{costLine(mesh)}</strong> {isUntold(incident, now) && <strong>{strings.toldNobody} </strong>}
      {others > 0 && strings.otherIncidents(others)}{' '}
      {measured < planned && strings.partly(formatCount(measured), formatCount(planned))}
    </>
  )
}

type Words = (at: string) => string

/** Return the state of a mesh without open incidents, and what more is known about it. */
function sentences(mesh: MeshHealth, verdict: Exclude<Verdict, { kind: 'degraded' }>, moment: Words, age: Words) {
  const [planned, measured] = [formatCount(mesh.paths.planned), formatCount(mesh.paths.measured)]
  const { agents, last_incident_ended_at: ended } = mesh
  const silent = agents.silent > 0 && strings.silentReason(agents.silent)
  switch (verdict.kind) {
    case 'blind':
      return [strings.blind(planned, moment(verdict.since)), silent]
    case 'partial':
      return [strings.partly(measured, planned), reasons(mesh), silent, strings.noOpenIncidents]
    case 'noRules':
      return [strings.noRules(measured)]
    case 'unevaluated':
      return [verdict.since === null ? strings.notEvaluated : strings.notEvaluatedSince(moment(verdict.since))]
    case 'waiting': {
      const all = agents.reporting + agents.silent + agents.stopped + agents.enrolled
      return [strings.waiting, strings.waitingNext(agents.reporting, all)]
    }
    case 'learning':
      return [
        strings.learning(verdict.minutes, verdict.of),
        strings.learningMeasured(measured, planned),
        strings.learningNext,
      ]
    case 'noPaths':
      return [strings.noPaths, strings.noPathsNext]
    case 'noVms':
      return [strings.noVms(mesh.name), strings.noVmsNext]
    case 'healthy':
      return [
        strings.healthy(planned, mesh.name),
        ended && strings.lastEnded(moment(ended), age(ended)),
        ...stillLearning(mesh),
      ]
  }
}

/** Return what alert rules cannot detect yet: of young paths nothing, of paths without a usual value a changed delay. */
function stillLearning(mesh: MeshHealth) {
  const { settling_paths, settling_s } = mesh.learning
  const minutes = minutesToBaselines(mesh)
  return [
    settling_paths > 0 && strings.newPaths(settling_paths, Math.ceil(settling_s / 60)),
    minutes !== null && strings.baselinesIn(minutes),
  ]
}

/** Return the reasons why some paths are not measured. */
function reasons({ paths }: MeshHealth) {
  const found = [
    paths.lost > 0 && strings.lostReason(formatCount(paths.lost)),
    paths.stale > 0 && strings.staleReason(formatCount(paths.stale)),
    paths.no_data > 0 && strings.noDataReason(formatCount(paths.no_data)),
    paths.no_service > 0 && strings.noServiceReason(formatCount(paths.no_service)),
  ].filter((reason) => reason !== false)
  return found.length > 0 && strings.reasons(found.join(', '))
}

function NextSteps({ mesh, verdict, unusual }: Props & { verdict: Verdict }) {
  const now = useNow(NOW_MS, serverNow)
  const { proposed } = mesh
  const steps: ReactNode[] = []
  if (verdict.kind === 'degraded') {
    const { incident } = verdict
    if (isUntold(incident, now)) {
      steps.push(
        <TextLink key="receivers" to="/receivers">
          {strings.addReceiver}
        </TextLink>,
      )
    }
    steps.push(
      <TextLink key="incident" to="/incidents/$incidentId" params={{ incidentId: incident.id }}>
        {strings.openIncident}
      </TextLink>,
      <PathsLink key="paths" mesh={mesh} incident={incident}>
        {strings.seePaths}
      </PathsLink>,
    )
  } else if (['waiting', 'noPaths', 'noVms'].includes(verdict.kind)) {
    steps.push(
      <TextLink key="add" to="/onboarding" search={{ mesh: mesh.id }}>
        {strings.addVm}
      </TextLink>,
    )
  } else if (verdict.kind === 'noRules' || verdict.kind === 'unevaluated') {
    steps.push(
      <TextLink key="rules" to="/alert-rules" search={{ mesh: mesh.id }}>
        {strings.seeRules}
      </TextLink>,
    )
  } else if (mesh.agents.silent > 0) {
    steps.push(
      <TextLink key="vms" to="/vms">
        {strings.seeVms}
      </TextLink>,
    )
  }
  if (verdict.kind !== 'degraded' && mesh.vms > 0) {
    steps.push(
      <TextLink key="heatmap" to="/meshes/$meshId" params={{ meshId: mesh.id }} search={NOW}>
        {strings.openHeatmap}
      </TextLink>,
    )
  }
  if (unusual) {
    const { source, target, deviation_ns } = unusual
    steps.push(
      <TextLink
        key="unusual"
        aria-keyshortcuts="u"
        to="/meshes/$meshId/paths/$source/$target"
        params={{ meshId: mesh.id, source: source.id, target: target.id }}
      >
        {strings.mostUnusual(source.name, target.name, formatSignedDelay(deviation_ns))}
      </TextLink>,
    )
  }
  if (proposed) {
    const { cures, total } = proposed
    const gain = total === null ? '' : strings.gainOf(formatChange(total.gain.mean))
    const cure = cures && strings.cures(cures.application.name, formatShare(cures.now), formatShare(cures.after))
    steps.push(
      <TextLink key="moves" to="/meshes/$meshId" params={{ meshId: mesh.id }} search={{ ...NOW, moves: proposed.id }}>
        {strings.seeMoves(proposed.moves, cure || gain)}
      </TextLink>,
    )
  }
  return steps.length > 0 && <div className={styles.steps}>{steps}</div>
}
