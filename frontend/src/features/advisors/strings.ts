/** Texts of the list of advisors. */

export const strings = {
  advisors: 'Advisors',
  advisorsLead:
    'Answers from your measurements, each with the rule or the formula behind it. An advisor changes nothing.',
  questions: {
    '/advisors/compute-mix': 'Which split between VMs and serverless is the cheapest that keeps the response target?',
    '/advisors/fairness': 'Do all VMs, applications or flows get a similar share of the network?',
    '/advisors/transport': 'Which transport suits a path or a transfer, and how much time does it save?',
    '/advisors/transfers': 'In which order, at which rates and over how many connections should data move?',
    '/advisors/shaping': 'Does a token bucket limit a path, when is it empty, and do requests wait for a timeout?',
    '/advisors/tail-lab':
      'Which order of packets at a bottleneck link spares the slowest flows, and what does it cost the others?',
  },
}
