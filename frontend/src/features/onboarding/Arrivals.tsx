import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import { agentsQuery } from '~/api/inventory'
import { rosterQuery } from '~/api/meshes'
import type { Agent, Mesh } from '~/api/types'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { ButtonLink } from '~/ui/links'
import { StatusMark } from '~/ui/StatusMark'
import styles from './onboarding.module.css'
import { strings } from './strings'

const POLL_MS = 2_000

/** Return the state of an arriving agent, as text. */
function progress(agent: Agent): { mark: 'good' | 'waiting' | 'warn'; word: string } {
  if (agent.status === 'reporting') return { mark: 'good', word: strings.firstWindow }
  if (agent.status === 'silent') return { mark: 'warn', word: strings.stoppedReporting }
  return { mark: 'waiting', word: strings.enrolledWaiting }
}

/** The machines that join the mesh; green once their first window is stored. Those that report already are counted. */
export function Arrivals({ mesh, since }: { mesh: Mesh | undefined; since: string | null }) {
  const clock = useClock()
  const { data: agents } = useQuery({ ...agentsQuery, enabled: mesh !== undefined, refetchInterval: POLL_MS })
  const { data: roster } = useQuery({
    ...rosterQuery(mesh?.id ?? ''),
    enabled: mesh !== undefined,
    refetchInterval: POLL_MS,
  })
  const members = new Set(roster?.vms.map(({ id }) => id))
  const arrived = (agents ?? []).filter(({ vm, status }) => members.has(vm.id) && status !== 'revoked')
  const reporting = arrived.filter(({ status }) => status === 'reporting').length
  const isNew = (agent: Agent) => since !== null && agent.created_at >= since
  const shown = arrived.filter((agent) => isNew(agent) || agent.status === 'enrolled')
  const others = arrived.filter((agent) => !shown.includes(agent))
  const silent = others.filter(({ status }) => status === 'silent').length
  const already = others.length - silent
  return (
    <section className={styles.step}>
      <h2>{strings.arrivals}</h2>
      {already > 0 && <p className={styles.lead}>{strings.reportAlready(already)}</p>}
      {silent > 0 && (
        <p className={styles.lead}>
          {strings.stopped(silent)} <Link to="/vms">{strings.seeVms}</Link>
        </p>
      )}
      {shown.length === 0 ? (
        <p className={styles.lead}>{since ? strings.waitingForMachine : strings.arrivalsHint}</p>
      ) : (
        <ul className={styles.arrivals} aria-label={strings.machinesOfMesh} aria-live="polite">
          {shown.map((agent) => {
            const { mark, word } = progress(agent)
            return (
              <li key={agent.id} data-done={mark === 'good' || undefined}>
                <strong>{agent.vm.name}</strong>
                <StatusMark status={mark}>{word}</StatusMark>
                <span className={styles.when}>
                  {strings.enrolledAgo(isNew(agent) ? strings.newPrefix : '')}{' '}
                  <Age at={agent.created_at} clock={clock} now={serverNow} />
                </span>
              </li>
            )
          })}
        </ul>
      )}
      {arrived.length === 1 && <p className={styles.lead}>{strings.secondMachine}</p>}
      {arrived.some(({ status }) => status === 'enrolled') && (
        <p className={styles.lead}>
          {strings.firewallHint} <code>{strings.checkCommand}</code> {strings.checkCommandEffect}
        </p>
      )}
      {mesh && (
        <div>
          <ButtonLink
            size="sm"
            variant={reporting >= 2 ? 'filled' : 'default'}
            to="/meshes/$meshId"
            params={{ meshId: mesh.id }}
          >
            {strings.openHeatmap}
          </ButtonLink>
        </div>
      )}
    </section>
  )
}
