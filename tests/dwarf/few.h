/* SPDX-License-Identifier: Apache-2.0 */
#define PROFILE_ADDRESSES_MAX 512u
