/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/target/penalty.h"

#include <string.h>

#define CGROUP_ROOT 1 /* the id of the root, where processes are that have no cgroup of their own */

static struct penalty group_of(const struct target_process *process)
{
	const struct target_group *group = &process->group;
	struct penalty key = {.kind = PENALTY_SESSION, .uid = group->uid};

	memcpy(key.outer, group->outer, sizeof(key.outer));
	if (group->cgroup > CGROUP_ROOT) {
		key.kind = PENALTY_CGROUP;
		key.first = group->cgroup;
	} else if (group->session != 0) {
		key.first = group->session;
		key.second = group->uid;
	} else {
		key.kind = PENALTY_PROCESS;
		key.first = process->pid;
	}
	return key;
}

/* Returns the user as a whole; PENALTY_NONE for root, to whom every service may belong. */
static struct penalty user_of(const struct target_process *process)
{
	const uint32_t uid = process->group.uid;

	if (uid == 0)
		return (struct penalty){.kind = PENALTY_NONE};
	return (struct penalty){.kind = PENALTY_USER, .second = uid, .uid = uid};
}

/* Returns the cgroup around the process on a level, with all that is below it. */
static struct penalty subtree_of(const struct target_process *process, unsigned int level)
{
	const uint32_t cgroup = process->group.outer[level];

	if (cgroup == 0 || process->group.uid == 0)
		return (struct penalty){.kind = PENALTY_NONE};
	return (struct penalty){.kind = PENALTY_SUBTREE, .first = cgroup};
}

static bool is_same(const struct penalty *a, const struct penalty *b)
{
	return a->kind == b->kind && a->first == b->first && a->second == b->second;
}

/* Returns the index of the key, or PENALTY_GROUPS. */
static unsigned int find(const struct penalty groups[PENALTY_GROUPS], const struct penalty *key,
			 uint64_t now)
{
	unsigned int i = 0;

	if (key->kind == PENALTY_NONE)
		return PENALTY_GROUPS;
	while (i < PENALTY_GROUPS && (groups[i].until <= now || !is_same(&groups[i], key)))
		i++;
	return i;
}

/* Returns the place whose time is over, or is over first. */
static struct penalty *find_place(struct penalty groups[PENALTY_GROUPS])
{
	struct penalty *place = &groups[0];

	for (unsigned int i = 1; i < PENALTY_GROUPS; i++)
		if (groups[i].until < place->until)
			place = &groups[i];
	return place;
}

/* Returns whether the key is new. */
static bool put(struct penalties *penalties, const struct penalty *key, uint64_t now)
{
	const unsigned int index = find(penalties->groups, key, now);
	struct penalty *place;

	if (index < PENALTY_GROUPS) {
		penalties->groups[index].until = now + PENALTY_NS;
		return false;
	}
	place = find_place(penalties->groups);
	*place = *key;
	place->until = now + PENALTY_NS;
	return true;
}

static unsigned int count_groups(const struct penalties *penalties, uint32_t uid, uint64_t now)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < PENALTY_GROUPS; i++)
		count += penalties->groups[i].until > now && penalties->groups[i].uid == uid &&
			 penalties->groups[i].kind != PENALTY_USER;
	return count;
}

static bool is_within(const struct penalty *group, const struct penalty *subtree,
		      unsigned int level, uint64_t now)
{
	return group->until > now && group->uid != 0 && group->outer[level] == subtree->first;
}

/* Returns whether an earlier group in the subtree is of the same user. */
static bool is_repeated(const struct penalty *groups, unsigned int index,
			const struct penalty *subtree, unsigned int level, uint64_t now)
{
	for (unsigned int i = 0; i < index; i++)
		if (groups[i].uid == groups[index].uid &&
		    is_within(&groups[i], subtree, level, now))
			return true;
	return false;
}

/* Returns how many users have penalized groups in the subtree. Root does not count. */
static unsigned int count_users(const struct penalty *groups, const struct penalty *subtree,
				unsigned int level, uint64_t now)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < PENALTY_GROUPS; i++)
		count += is_within(&groups[i], subtree, level, now) &&
			 !is_repeated(groups, i, subtree, level, now);
	return count;
}

/* A cgroup just below the root may be that of all users, or of all containers. */
static unsigned int most_users(unsigned int level)
{
	if (level == 0)
		return PENALTY_SPREAD_TOP;
	return PENALTY_SPREAD;
}

/* Penalizes the smallest subtree in which groups of several users are penalized. */
static void spread(struct penalties *penalties, const struct target_process *process, uint64_t now)
{
	for (unsigned int level = TARGET_LEVELS; level-- > 0;) {
		const struct penalty subtree = subtree_of(process, level);

		if (subtree.kind == PENALTY_NONE)
			continue;
		if (count_users(penalties->groups, &subtree, level, now) < most_users(level))
			continue;
		put(penalties, &subtree, now);
		return;
	}
}

bool penalty_add(struct penalties *penalties, const struct target_process *process, uint64_t now)
{
	const struct penalty group = group_of(process), user = user_of(process);
	const bool is_new = !penalty_holds(penalties, process, now);

	/* a user who is penalized as a whole takes one place, however many groups there are */
	if (find(penalties->groups, &user, now) < PENALTY_GROUPS) {
		put(penalties, &user, now);
		return false;
	}
	put(penalties, &group, now);
	if (user.kind != PENALTY_NONE && count_groups(penalties, user.uid, now) >= PENALTY_SPREAD)
		put(penalties, &user, now);
	spread(penalties, process, now);
	return is_new;
}

static bool is_in_subtree(const struct penalties *penalties, const struct target_process *process,
			  uint64_t now)
{
	for (unsigned int level = 0; level < TARGET_LEVELS; level++) {
		const struct penalty subtree = subtree_of(process, level);

		if (find(penalties->groups, &subtree, now) < PENALTY_GROUPS)
			return true;
	}
	return false;
}

bool penalty_holds(const struct penalties *penalties, const struct target_process *process,
		   uint64_t now)
{
	const struct penalty group = group_of(process), user = user_of(process);

	return find(penalties->groups, &group, now) < PENALTY_GROUPS ||
	       find(penalties->groups, &user, now) < PENALTY_GROUPS ||
	       is_in_subtree(penalties, process, now);
}

/* Returns whether the key has used more than its share. */
static bool charge(struct penalties *penalties, const struct penalty *key, uint64_t spent,
		   uint64_t now)
{
	const unsigned int index = find(penalties->charged, key, now);
	struct penalty *account = &penalties->charged[index % PENALTY_GROUPS];

	if (key->kind == PENALTY_NONE)
		return false;
	if (index == PENALTY_GROUPS) {
		account = find_place(penalties->charged);
		*account = *key;
		account->until = now;
	}
	account->until += spent * PENALTY_SHARE;
	return account->until > now + PENALTY_AHEAD * PENALTY_SHARE;
}

bool penalty_charge(struct penalties *penalties, const struct target_process *process,
		    uint64_t spent, uint64_t now)
{
	const struct penalty group = group_of(process), user = user_of(process);
	bool is_over = charge(penalties, &group, spent, now);

	is_over |= charge(penalties, &user, spent, now);
	/* many innocent groups may be in a subtree, whose small parts must not add up */
	if (spent < PENALTY_LATE)
		return is_over;
	for (unsigned int level = 1; level < TARGET_LEVELS; level++) {
		const struct penalty subtree = subtree_of(process, level);

		is_over |= charge(penalties, &subtree, spent, now);
	}
	return is_over;
}

bool penalty_is_shared(const struct target_process *a, const struct target_process *b)
{
	const struct penalty first = group_of(a), second = group_of(b);

	return is_same(&first, &second);
}
