import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { serverNow } from '~/api/connection'
import type { Deviations, MeshHealth } from '~/api/overview'
import { formatCount, formatDelay, formatRatio, formatSignedPercent, NO_VALUE } from '~/lib/units'
import { Term } from '~/ui/Term'
import { useNow } from '~/ui/useNow'
import { isCovered } from './comparison'
import { changesOf, type PairChange, typical } from './deviation'
import styles from './overview.module.css'
import { strings } from './strings'

interface Props {
  mesh: MeshHealth
  deviations: Pick<UseQueryResult<Deviations>, 'data'>
}

const NOW_MS = 60_000

const noUsual = (changes: readonly PairChange[]) =>
  changes.some(({ isMeasured }) => isMeasured) ? strings.noUsualYet : strings.cellNoData

/** The numbers of a mesh: paths, loss, change of the delay, agents. */
export function Numbers({ mesh, deviations }: Props) {
  const { planned, measured } = mesh.paths
  const { reporting, silent, stopped, enrolled } = mesh.agents
  const agents = reporting + silent + stopped + enrolled
  const changes = deviations.data ? changesOf(deviations.data) : []
  const now = useNow(NOW_MS, serverNow)
  const comparable = changes.filter((change) => change.isUnusual || !isCovered(change, mesh, now))
  const { nowNs, percent, pairs } = typical(comparable)
  const noChange = comparable.length < changes.length ? strings.usualIsOfIncident : noUsual(changes)
  return (
    <dl className={styles.numbers}>
      <Figure name={strings.pathsMeasured} isShort={measured < planned}>
        {strings.of(formatCount(measured), formatCount(planned))}
      </Figure>
      <Figure name={strings.loss} term="loss" isShort={mesh.loss !== null && mesh.loss > 0}>
        {formatRatio(mesh.loss)}
      </Figure>
      <Figure
        name={strings.delayFromUsual}
        term="change from usual"
        hint={
          deviations.data && (pairs > 0 ? strings.delayHint(formatDelay(nowNs), strings.zonePairs(pairs)) : noChange)
        }
      >
        {percent === null ? NO_VALUE : formatSignedPercent(percent)}
      </Figure>
      <Figure name={strings.agentsReporting} isShort={reporting < agents}>
        {strings.of(formatCount(reporting), formatCount(agents))}
      </Figure>
    </dl>
  )
}

interface FigureProps {
  name: string
  /** Glossary term of the name. */
  term?: string
  hint?: string | undefined
  isShort?: boolean
  children: ReactNode
}

function Figure({ name, term, hint, isShort, children }: FigureProps) {
  return (
    <div>
      <dt>{term ? <Term of={term}>{name}</Term> : name}</dt>
      <dd data-short={isShort || undefined}>{children}</dd>
      {hint && <dd className={styles.hint}>{hint}</dd>}
    </div>
  )
}
