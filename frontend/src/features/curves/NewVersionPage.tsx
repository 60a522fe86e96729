import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { curveQuery, useCreateCurveVersion } from '~/api/curves'
import { Page } from '~/ui/Page'
import { Failed, Loading } from '~/ui/State'
import { MeasurementsForm } from './MeasurementsForm'

/** Newer measurements of a curve there is already. */
export function NewVersionPage({ curveId }: { curveId: string }) {
  const navigate = useNavigate()
  const found = useQuery(curveQuery(curveId))
  const create = useCreateCurveVersion(curveId)
  if (found.error && !found.data) {
    return <Failed what="This curve" error={found.error} retry={() => void found.refetch()} />
  }
  if (!found.data) return <Loading what="the curve" />
  const { curve } = found.data
  return (
    <Page
      title={`New version of ${curve.name}`}
      lead={`Same application, same configuration, measured as a ${curve.metric}. Version ${curve.newest} stays as it is.`}
      action={
        <Anchor size="sm" renderRoot={(root) => <Link {...root} to="/curves/$curveId" params={{ curveId }} />}>
          Back to the curve
        </Anchor>
      }
    >
      <MeasurementsForm
        action="Fit a version"
        pending={create.isPending}
        error={create.error}
        onSubmit={(input) =>
          create.mutate(input, { onSuccess: () => void navigate({ to: '/curves/$curveId', params: { curveId } }) })
        }
      />
    </Page>
  )
}
