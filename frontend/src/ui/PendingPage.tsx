import { LoadingPage } from './Page'
import { useRouteTitle } from './routeTitle'
import { Loading } from './State'

const WHAT = 'the page'

/** A page whose code or mesh loads, with the name that its route gives it. */
export function PendingPage() {
  const title = useRouteTitle()
  return title ? <LoadingPage title={title} what={WHAT} /> : <Loading what={WHAT} />
}
