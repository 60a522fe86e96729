import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { planAdoptionQuery } from '~/api/meshes'
import type { PlanAdoption } from '~/api/types'
import { formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import pageStyles from '~/ui/page.module.css'
import { Failed, Loading, Notice } from '~/ui/State'
import { strings } from './strings'

const NAMED = 5

/** The agents of a mesh that follow its newest plan, and those that are waited for. */
export function Adoption({ meshId }: { meshId: string }) {
  const { data, error, refetch } = useQuery(planAdoptionQuery(meshId))
  if (error && !data) return <Failed what={strings.adoptionLower} error={error} retry={() => void refetch()} />
  if (!data) return <Loading what={strings.adoptionLower} />
  if (data.agents === 0) {
    return (
      <Notice tone="info">
        {strings.noAgents}{' '}
        <Link to="/onboarding" search={{ mesh: meshId }}>
          {strings.addVm}
        </Link>
      </Notice>
    )
  }
  return (
    <>
      <ControlGroup data={data} />
      <p className={pageStyles.quiet}>{strings.joining(data.revision)}</p>
    </>
  )
}

function ControlGroup({ data }: { data: PlanAdoption }) {
  const clock = useClock()
  const since = data.active_since ? new Date(data.active_since) : null
  const words = [strings.revision(data.revision)]
  if (since) {
    words.push(strings.activeEverywhere(formatMoment(since, clock), data.live))
  } else {
    words.push(strings.liveFollow(data.following, data.live))
    const waiting = data.live - data.following
    const names = data.first_waited_for.slice(0, NAMED)
    if (waiting > 0) words.push(strings.waiting(names.join(', '), waiting - names.length))
  }
  const absent = data.agents - data.live
  const names = data.first_not_live.slice(0, NAMED)
  if (absent > 0) words.push(strings.notLive(absent, names.join(', '), absent - names.length))
  return <Notice tone={since ? 'good' : 'info'}>{words.join(' ')}</Notice>
}
