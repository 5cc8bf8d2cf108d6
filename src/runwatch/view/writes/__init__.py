"""What can be done with the records of each resource, as data (:mod:`runwatch.view.mutation`)."""
