import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { curveQuery, useCreateCurveVersion } from '~/api/curves'
import { Page } from '~/ui/Page'
import { Failed, Loading } from '~/ui/State'
import { MeasurementsForm } from './MeasurementsForm'
import { strings } from './strings'

/** Newer measurements of a curve there is already. */
export function NewVersionPage({ curveId }: { curveId: string }) {
  const navigate = useNavigate()
  const found = useQuery(curveQuery(curveId))
  const create = useCreateCurveVersion(curveId)
  if (found.error && !found.data) {
    return <Failed what={strings.theCurve} error={found.error} retry={() => void found.refetch()} />
  }
  if (!found.data) return <Loading what={strings.curveLower} />
  const { curve } = found.data
  return (
    <Page
      title={strings.newVersionOf(curve.name)}
      lead={strings.newVersionLead(curve.metric, curve.newest)}
      action={
        <Anchor size="sm" renderRoot={(root) => <Link {...root} to="/curves/$curveId" params={{ curveId }} />}>
          {strings.backToCurve}
        </Anchor>
      }
    >
      <MeasurementsForm
        action={strings.fitVersion}
        pending={create.isPending}
        error={create.error}
        onSubmit={(input) =>
          create.mutate(input, { onSuccess: () => void navigate({ to: '/curves/$curveId', params: { curveId } }) })
        }
      />
    </Page>
  )
}
