import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Deviations, MeshHealth } from '~/api/overview'
import { formatCount, formatDelay, formatRatio, formatSignedPercent, NO_VALUE } from '~/lib/units'
import { Term } from '~/ui/Term'
import { changesOf, typical } from './deviation'
import styles from './overview.module.css'
import { strings } from './strings'

interface Props {
  mesh: MeshHealth
  deviations: Pick<UseQueryResult<Deviations>, 'data'>
}

/** The numbers of a mesh: paths, loss, change of the delay, agents. */
export function Numbers({ mesh, deviations }: Props) {
  const { planned, measured } = mesh.paths
  const { reporting, silent, enrolled } = mesh.agents
  const agents = reporting + silent + enrolled
  const changes = deviations.data ? changesOf(deviations.data) : []
  const { nowNs, percent, pairs } = typical(changes)
  const noChange = changes.some(({ isMeasured }) => isMeasured) ? strings.noUsualYet : strings.cellNoData
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
