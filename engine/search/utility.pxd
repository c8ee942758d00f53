"""What the search maximises: win or loss, and how many points by. One function from an evaluation to a number."""

ctypedef struct UtilityParams:
    double win_loss            # weight of value
    double static_weight       # weight of the score measured from zero
    double dynamic_weight      # weight of the score measured from `center`
    double static_scale        # points: 2 * sqrt(area)
    double dynamic_scale       # points: dynamic_score_scale * sqrt(area)
    double center              # points, root color's view
    int root_color

cdef double utility_of(
    const UtilityParams* p, double value, double score_mean, double score_stdev, int to_play) noexcept nogil
# Utility that one point more is worth.
cdef double utility_slope(const UtilityParams* p, double score_mean, double score_stdev, int to_play) noexcept nogil
