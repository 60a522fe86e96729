import type { Recommendation } from '~/api/types'
import { formatChange, formatShare } from '~/lib/performance'
import { NO_VALUE } from '~/lib/units'
import { pageStyles, Table } from '~/ui/Page'

/** What all moves together do to each application. */
export function Effects({ found }: { found: Recommendation }) {
  return (
    <Table label="Applications">
      <thead>
        <tr>
          <th scope="col">Application</th>
          <th scope="col" className={pageStyles.number}>
            Before
          </th>
          <th scope="col" className={pageStyles.number}>
            After all moves
          </th>
          <th scope="col" className={pageStyles.number}>
            Gain
          </th>
          <th scope="col" className={pageStyles.number}>
            Objective
          </th>
        </tr>
      </thead>
      <tbody>
        {found.answer.applications.map(({ application, objective, expected: { before, after, gain } }) => (
          <tr key={application.id}>
            <th scope="row">{application.name}</th>
            <td className={pageStyles.number}>{formatShare(before.mean)}</td>
            <td className={pageStyles.number}>
              {formatShare(after.mean)}{' '}
              <span className={pageStyles.quiet}>
                {formatShare(after.low)} to {formatShare(after.high)}
              </span>
            </td>
            <td className={pageStyles.number}>{formatChange(gain.mean)}</td>
            <td className={pageStyles.number}>{objective === null ? NO_VALUE : formatShare(objective)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}
